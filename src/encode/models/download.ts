import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Larger than any model that this server could run. */
const BYTES_MAX = 64 * 2 ** 30;
const HOPS_MAX = 5;

export interface Wanted {
  readonly url: string;
  /** What the file must be; absent: the hub's own content hash is believed, once. */
  readonly sha256?: string;
  readonly bytes?: number;
}

export interface DownloadOptions {
  /** Times that a broken transfer is taken up again. */
  readonly attempts: number;
  readonly onProgress?: (done: number, total: number | undefined) => void;
  /** Waited for before another attempt. */
  readonly pause: (attempt: number) => Promise<void>;
}

export interface Downloaded {
  readonly sha256: string;
  readonly bytes: number;
}

/** Another attempt may mend it. */
class Broken extends Error {}

/**
 * Brings a file to `path`, whole and checked. What an attempt leaves lies beside it as `.part` and is taken up by the next one,
 * also of a later process, if the server still has the same content. A file with wrong content is removed.
 * @throws Error that says what was wrong.
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

/** One attempt: continues the part where the server lets it. */
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
  if (response.status === 416) {
    await response.body?.cancel();
    // The part may be the whole file already. If it isn't, it is of another content.
    const whole = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
    const bytes = wanted.bytes ?? offer.bytes ?? (whole === undefined ? undefined : Number(whole));
    if (start === bytes && (wanted.sha256 ?? offer.contentHash)) return { ...offer, bytes };
    await forget(part);
    throw new Broken('the server could not go on from there');
  }
  if (response.status !== 200 && response.status !== 206) {
    await response.body?.cancel();
    const message = `${wanted.url} was answered ${response.status}`;
    throw response.status >= 500 || response.status === 429 ? new Broken(message) : new Error(message);
  }
  const goesOn = response.status === 206 && rangeStart(response) === start;
  if (response.status === 206 && !goesOn) {
    await response.body?.cancel();
    await forget(part);
    throw new Broken('the server sent another range');
  }
  const from = goesOn ? start : 0;
  if (!goesOn && etag !== undefined) await writeFile(`${part}.etag`, etag);
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  const total = offer.bytes ?? (Number.isNaN(length) ? undefined : from + length);
  const most = wanted.bytes ?? total ?? BYTES_MAX;
  let done = from;
  const file = await open(part, goesOn ? 'a' : 'w');
  try {
    // Piece by piece, so that what came before a break is kept.
    for await (const piece of response.body ?? []) {
      done += piece.length;
      if (done > most) break;
      await file.appendFile(piece);
      onProgress?.(done, wanted.bytes ?? total);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error;
    throw new Broken(`the transfer broke off: ${(error as Error).message}`, { cause: error });
  } finally {
    await file.close();
  }
  if (done > most) {
    await forget(part);
    throw new Error(`${wanted.url} sends more than its ${most} bytes`);
  }
  if (total !== undefined && done < total)
    throw new Broken(`the transfer ended after ${done} of ${total} bytes`);
  return { ...offer, ...(total !== undefined && { bytes: total }) };
}

/** Follows redirections itself: what the hub says of the content stands on its own answer, not on the last one. */
async function ask(address: string, start: number, tag: string | undefined) {
  // Compressed on the way, the bytes would not be those that were hashed.
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
