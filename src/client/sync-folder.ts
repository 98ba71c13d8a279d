import type { Item } from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';
import type { IngestManyOptions, IngestSummary, NamedSource } from './ingest-many.ts';

/** A sync's changes, before they are made. */
export interface SyncPlan {
  /** Files that are new or changed. */
  readonly uploads: number;
  readonly bytes: number;
  readonly unchanged: number;
  /** Items whose files are gone. */
  readonly removals: number;
}

export interface SyncOptions extends Omit<IngestManyOptions, 'log' | 'wait'> {
  /** Prefix of the keys; only items with such keys are removed. Default: the folder's name and `/`. */
  readonly prefix?: string;
  /** Called before anything is sent; `false` ends the call there. */
  readonly onPlan?: (plan: SyncPlan) => unknown;
}

export interface SyncSummary extends Omit<IngestSummary, 'skipped' | 'duplicates'> {
  readonly unchanged: number;
  readonly removed: number;
}

/** A workspace, as far as a sync needs it. */
export interface SyncTarget {
  items(page: { limit: number; after?: string }): Promise<{ items: readonly Item[]; next: string | null }>;
  remove(id: string): Promise<unknown>;
  ingestMany(sources: readonly NamedSource[], options: IngestManyOptions): Promise<IngestSummary>;
}

/** Variables instead of literals in the imports, so that bundlers for browsers ignore them. */
const [FILE_SYSTEM, CRYPTO, PATHS] = ['node:fs', 'node:crypto', 'node:path'];
const PAGE = 100;

/** The parts that are used. */
interface FileSystem {
  readonly promises: {
    readdir(
      path: string,
      options: { recursive: true; withFileTypes: true },
    ): Promise<{ name: string; parentPath: string; isFile(): boolean }[]>;
    stat(path: string): Promise<{ readonly size: number }>;
  };
  createReadStream(path: string): AsyncIterable<Uint8Array>;
}
interface Paths {
  resolve(path: string): string;
}
interface Crypto {
  createHash(name: 'sha256'): { update(bytes: Uint8Array): void; digest(encoding: 'hex'): string };
}

/**
 * Makes a workspace's items with keys under a prefix what a folder holds: new and changed files are sent, then what is gone is removed.
 * Hidden files and folders are left out. A file that is refused leaves its former version.
 * @throws source_unreadable for the folder or a file in it, before anything is sent; otherwise as `ingestMany`
 */
export async function syncFolder(
  target: SyncTarget,
  folder: string,
  { prefix, onPlan, ...options }: SyncOptions,
): Promise<SyncSummary> {
  const root = ((await import(PATHS!)) as Paths).resolve(folder);
  const start = prefix ?? `${root.split(/[\\/]/).at(-1)}/`;
  const [files, items] = [await filesIn(root), await itemsBelow(target, start)];
  const sources: NamedSource[] = [];
  let bytes = 0;
  for (const { path, relative, size } of files) {
    const itemKey = start + relative;
    const name = relative.split('/').at(-1)!;
    const item = items.get(itemKey);
    items.delete(itemKey);
    if (item && (await isUnchanged(item, { path, name, size }, options.metadata))) continue;
    sources.push({ source: path, name, key: path, itemKey });
    bytes += size;
  }
  const gone = [...items.values()];
  const plan = {
    uploads: sources.length,
    bytes,
    unchanged: files.length - sources.length,
    removals: gone.length,
  };
  const isWanted = (await onPlan?.(plan)) !== false;
  const { ingested, duplicates, failed } = await target.ingestMany(isWanted ? sources : [], options);
  let removed = 0;
  for (const { id } of isWanted ? gone : []) {
    options.signal?.throwIfAborted();
    await target.remove(id).catch(unlessGone);
    removed += 1;
  }
  return { ingested, unchanged: plan.unchanged + duplicates, removed, failed };
}

interface LocalFile {
  readonly path: string;
  /** With `/` on every system. */
  readonly relative: string;
  readonly size: number;
}

async function filesIn(root: string): Promise<LocalFile[]> {
  const { promises } = (await import(FILE_SYSTEM!)) as FileSystem;
  const entries = await promises
    .readdir(root, { recursive: true, withFileTypes: true })
    .catch((cause: Error) => {
      throw unreadable(root, cause);
    });
  const files: LocalFile[] = [];
  for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
    const path = `${parentPath}/${name}`;
    const relative = path.slice(root.length + 1).replaceAll('\\', '/');
    if (relative.split('/').some((part) => part.startsWith('.'))) continue;
    const { size } = await promises.stat(path).catch((cause: Error) => {
      throw unreadable(path, cause);
    });
    files.push({ path, relative, size });
  }
  return files.sort((one, other) => (one.relative < other.relative ? -1 : 1));
}

/** The uploaded items whose keys begin so, by key. */
async function itemsBelow(target: SyncTarget, prefix: string): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  let after: string | null | undefined;
  do {
    const page = await target.items({ limit: PAGE, ...(after && { after }) });
    for (const item of page.items)
      if (item.key?.startsWith(prefix) && item.state !== 'failed') found.set(item.key, item);
    after = page.next;
  } while (after);
  return found;
}

async function isUnchanged(
  item: Item,
  { path, name, size }: { path: string; name: string; size: number },
  metadata: IngestManyOptions['metadata'],
): Promise<boolean> {
  if (item.bytes !== size || item.name !== name || !isSame(item.metadata, metadata)) return false;
  return item.sha256 === (await digestOf(path));
}

function isSame(one: object = {}, other: object = {}): boolean {
  const sorted = (metadata: object) => JSON.stringify(Object.entries(metadata).sort());
  return sorted(one) === sorted(other);
}

async function digestOf(path: string): Promise<string> {
  const [{ createReadStream }, { createHash }] = [
    (await import(FILE_SYSTEM!)) as FileSystem,
    (await import(CRYPTO!)) as Crypto,
  ];
  const digest = createHash('sha256');
  try {
    for await (const piece of createReadStream(path)) digest.update(piece);
  } catch (cause) {
    throw unreadable(path, cause as Error);
  }
  return digest.digest('hex');
}

function unreadable(path: string, cause: Error): FarthingError {
  return new FarthingError('source_unreadable', `${path} cannot be read: ${cause.message}.`, { cause });
}

function unlessGone(error: { code?: unknown }): void {
  if (error.code !== 'item_not_found') throw error;
}
