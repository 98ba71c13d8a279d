import { send } from './server.ts';

/** Requests for previews at a time: the server makes one after the other. */
const AT_ONCE = 4;
/** Previews kept in memory; the oldest goes first. */
const KEPT_MAX = 1500;
const BUSY_RETRIES = 5;

export interface PreviewOf {
  readonly workspace: string;
  readonly token: string;
  readonly item: string;
  readonly page?: number;
  readonly timeS?: number;
}

export interface Picture {
  readonly blob: Blob;
  /** A blob address, freed when the picture is forgotten. */
  readonly address: string;
}

const kept = new Map<string, Promise<Picture | undefined>>();
const waiting: (() => void)[] = [];
let running = 0;

/** An item's small picture; undefined when there is none. Asked for once. */
export function previewOf(of: PreviewOf): Promise<Picture | undefined> {
  const key = `${of.item}/${of.page ?? 0}/${of.timeS ?? 0}`;
  const known = kept.get(key);
  if (known) return known;
  const made = inTurn(() => load(of));
  kept.set(key, made);
  if (kept.size > KEPT_MAX) forget(kept.keys().next().value!);
  return made;
}

/** Frees every preview: the workspace is gone. */
export function forgetPreviews(): void {
  for (const key of [...kept.keys()]) forget(key);
}

function forget(key: string): void {
  void kept.get(key)?.then((picture) => picture && URL.revokeObjectURL(picture.address));
  kept.delete(key);
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function load({ workspace, token, item, page, timeS }: PreviewOf): Promise<Picture | undefined> {
  const query = new URLSearchParams();
  if (page !== undefined) query.set('page', String(page));
  if (timeS !== undefined) query.set('time_s', String(timeS));
  const path = `/agent/v1/workspaces/${workspace}/items/${item}/preview?${query}`;
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await send({ path, token, quiet: true });
      if (response.ok) {
        const blob = await response.blob();
        return { blob, address: URL.createObjectURL(blob) };
      }
      if (response.status !== 503 || attempt === BUSY_RETRIES) return undefined;
    } catch {
      return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, 400 * 2 ** attempt));
  }
}

/** Base64 of a file's bytes. */
export async function toBase64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
