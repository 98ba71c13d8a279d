import type { SearchAnswer } from '@farthing/client';

/**
 * Answers and query pictures of this workspace's searches, so that a reload or the browser's Back shows them at once. They lie in the
 * browser's cache (in memory where a page without HTTPS has none) until the workspace ends.
 */

const NAME = 'farthing.searches';
/** Most answers and pictures together; the oldest goes first. */
const KEPT_MAX = 60;

interface KeptAnswer {
  readonly answer: SearchAnswer;
  readonly roundTripMs: number;
}

interface KeptPicture {
  readonly blob: Blob;
  readonly name: string;
}

const inMemory = new Map<string, Response>();

/** @param address as `writeAddress` makes it, without the filter */
export function keepAnswer(workspace: string, address: string, kept: KeptAnswer): Promise<void> {
  return put(answerPath(workspace, address), new Response(JSON.stringify(kept)));
}

export async function keptAnswer(workspace: string, address: string): Promise<KeptAnswer | undefined> {
  const found = await get(answerPath(workspace, address));
  return found && ((await found.json()) as KeptAnswer);
}

export function keepPicture(digest: string, { blob, name }: KeptPicture): Promise<void> {
  return put(picturePath(digest), new Response(blob, { headers: { 'X-Name': encodeURIComponent(name) } }));
}

export async function keptPicture(digest: string): Promise<KeptPicture | undefined> {
  const found = await get(picturePath(digest));
  return found && { blob: await found.blob(), name: decodeURIComponent(found.headers.get('X-Name') ?? '') };
}

export function forgetSearches(): void {
  inMemory.clear();
  void globalThis.caches?.delete(NAME).catch(() => undefined);
}

const answerPath = (workspace: string, address: string) =>
  `/kept/${workspace}/answer?${address.replace(/^#/, '')}`;
const picturePath = (digest: string) => `/kept/picture/${digest}`;

/** A full or forbidden cache costs a search that is made again. */
async function put(path: string, response: Response): Promise<void> {
  if (!globalThis.caches) {
    inMemory.set(path, response);
    return;
  }
  try {
    const cache = await caches.open(NAME);
    await cache.put(path, response);
    const keys = await cache.keys();
    for (const key of keys.slice(0, Math.max(0, keys.length - KEPT_MAX))) await cache.delete(key);
  } catch {
    inMemory.set(path, response);
  }
}

async function get(path: string): Promise<Response | undefined> {
  const found = inMemory.get(path)?.clone();
  if (found || !globalThis.caches) return found;
  return await caches
    .open(NAME)
    .then((cache) => cache.match(path))
    .catch(() => undefined);
}
