import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Larger than any model that this server could run. */
const BYTES_MAX = 64 * 2 ** 30;
const HOPS_MAX = 5;

export interface Wanted {
  readonly url: string;
  /** Expected hash; absent: the hub's content hash is trusted, once. */
  readonly sha256?: string;
  readonly bytes?: number;
}

export interface DownloadOptions {
  /** How often a broken transfer is tried, the first time included. */
  readonly attempts: number;
  readonly onProgress?: (done: number, total: number | undefined) => void;
  /** Awaited before another attempt. */
  readonly pause: (attempt: number) => Promise<void>;
}

export interface Downloaded {
  readonly sha256: string;
  readonly bytes: number;
}

/** A failure that another attempt may fix. */
class Broken extends Error {}

/**
 * Downloads a file completely and checks it; it is left at `path` with the suffix `.part`. A later attempt, also by another
 * process, resumes a partial file if the server still has the same content. A file with wrong content is removed.
 * @throws Error that says what was wrong
 */
export async function download(wanted: Wanted, path: string, options: DownloadOptions): Promise<Downloaded> {
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 1; ; attempt++) {
    try {
      const offered = await transfer(wanted, part, options.onProgress);
      return await checked(part, { ...offered, ...definite(wanted) });
    } catch (error) {
      if (!(error instanceof Broken) || attempt >= options.attempts) throw error;
      await options.pause(attempt);
    }
  }
}

interface Offer {
  /** The hub's hash of the content: SHA-256 of large files, git's hash of small ones. */
  readonly contentHash?: string;
  readonly bytes?: number;
}

function definite({ sha256, bytes }: Wanted): Offer {
  return { ...(sha256 && { contentHash: sha256 }), ...(bytes !== undefined && { bytes }) };
}

/** One attempt. Resumes the partial file where the server allows it. */
async function transfer(
  wanted: Wanted,
  part: string,
  onProgress: DownloadOptions['onProgress'],
): Promise<Offer> {
  const before = await stat(part).then(
    ({ size }) => size,
    () => 0,
  );
  const tag = before > 0 ? await readFile(`${part}.etag`, 'utf8').catch(() => undefined) : undefined;
  const start = tag === undefined ? 0 : before;
  const { response, offer, etag } = await ask(wanted.url, start, tag);
  if (response.status === 416) return completedOffer(wanted, part, { response, offer, start });
  if (response.status !== 200 && response.status !== 206) {
    await response.body?.cancel();
    const message = `${wanted.url} was answered ${response.status}`;
    throw response.status >= 500 || response.status === 429 ? new Broken(message) : new Error(message);
  }
  const resumes = response.status === 206 && rangeStart(response) === start;
  if (response.status === 206 && !resumes) {
    await response.body?.cancel();
    await forget(part);
    throw new Broken('the server sent another range');
  }
  const from = resumes ? start : 0;
  if (!resumes && etag !== undefined) await writeFile(`${part}.etag`, etag);
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  const total = offer.bytes ?? (Number.isNaN(length) ? undefined : from + length);
  const most = wanted.bytes ?? total ?? BYTES_MAX;
  const done = await append(response, part, { from, most }, (bytes) =>
    onProgress?.(bytes, wanted.bytes ?? total),
  );
  if (done > most) {
    await forget(part);
    throw new Error(`${wanted.url} sends more than its ${most} bytes`);
  }
  if (total !== undefined && done < total)
    throw new Broken(`the transfer ended after ${done} of ${total} bytes`);
  return { ...offer, ...(total !== undefined && { bytes: total }) };
}

/** The server has nothing after `start`: the partial file is complete, or has other content. @throws Broken in that case */
async function completedOffer(
  wanted: Wanted,
  part: string,
  { response, offer, start }: { response: Response; offer: Offer; start: number },
): Promise<Offer> {
  await response.body?.cancel();
  const whole = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
  const bytes = wanted.bytes ?? offer.bytes ?? (whole === undefined ? undefined : Number(whole));
  if (start === bytes && (wanted.sha256 ?? offer.contentHash)) return { ...offer, bytes };
  await forget(part);
  throw new Broken('the server could not resume the transfer');
}

/** Appends the body to the partial file, from byte `from`, until over `most` bytes. @returns bytes of the file */
async function append(
  response: Response,
  part: string,
  { from, most }: { from: number; most: number },
  onProgress: (done: number) => void,
): Promise<number> {
  let done = from;
  const file = await open(part, from > 0 ? 'a' : 'w');
  try {
    // Piece by piece: what arrived before a break is kept.
    for await (const piece of response.body ?? []) {
      done += piece.length;
      if (done > most) break;
      await file.appendFile(piece);
      onProgress(done);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error;
    throw new Broken(`the transfer broke off: ${(error as Error).message}`, { cause: error });
  } finally {
    await file.close();
  }
  return done;
}

/** Follows redirections by itself: the hub's statement of the content is in its own answer, not in the last one. */
async function ask(address: string, start: number, tag: string | undefined) {
  // Compressed bytes would not match the hash.
  const headers: Record<string, string> = { 'Accept-Encoding': 'identity' };
  if (start > 0 && tag !== undefined) Object.assign(headers, { Range: `bytes=${start}-`, 'If-Range': tag });
  let url = address;
  let linked: { hash: string; bytes: number | undefined } | undefined;
  for (let hop = 0; hop <= HOPS_MAX; hop++) {
    const response = await fetch(url, { headers, redirect: 'manual' }).catch((error: Error) => {
      throw new Broken(
        `${url} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`,
      );
    });
    const { headers: answered } = response;
    const named = hashOf(answered.get('x-linked-etag'));
    const size = Number(answered.get('x-linked-size') ?? Number.NaN);
    if (named) linked ??= { hash: named, bytes: Number.isNaN(size) ? undefined : size };
    const location = answered.get('location');
    if (response.status >= 300 && response.status < 400 && location) {
      await response.body?.cancel();
      url = new URL(location, url).href;
      continue;
    }
    const etag = answered.get('etag') ?? undefined;
    const contentHash = linked?.hash ?? hashOf(etag ?? null);
    const offer = {
      ...(contentHash && { contentHash }),
      ...(linked?.bytes !== undefined && { bytes: linked.bytes }),
    };
    return { response, offer, etag: etag?.startsWith('W/') ? undefined : etag };
  }
  throw new Error(`${address} leads to more than ${HOPS_MAX} redirections`);
}

/** A content hash in an ETag: 64 digits of SHA-256, or 40 of git's. */
function hashOf(etag: string | null): string | undefined {
  return /^(?:W\/)?"?([0-9a-f]{64}|[0-9a-f]{40})"?$/.exec(etag ?? '')?.[1];
}

function rangeStart(response: Response): number | undefined {
  const match = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '');
  return match ? Number(match[1]) : undefined;
}

async function checked(part: string, { contentHash, bytes }: Offer): Promise<Downloaded> {
  const { size } = await stat(part);
  const sha256 = await digest(part, createHash('sha256'));
  const refuse = async (reason: string): Promise<never> => {
    await forget(part);
    throw new Error(`what was received was thrown away: ${reason}`);
  };
  if (bytes !== undefined && size !== bytes) return refuse(`it has ${size} bytes, and should have ${bytes}`);
  if (contentHash === undefined)
    return refuse('neither the manifest nor the server says what its content should be');
  const found =
    contentHash.length === 64 ? sha256 : await digest(part, createHash('sha1').update(`blob ${size}\0`));
  if (found !== contentHash) return refuse(`its hash is ${found}, and should be ${contentHash}`);
  return { sha256, bytes: size };
}

async function digest(path: string, hash: Hash): Promise<string> {
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }))
    hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

async function forget(part: string): Promise<void> {
  await Promise.all([part, `${part}.etag`].map((path) => rm(path, { force: true })));
}
