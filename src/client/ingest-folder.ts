import { formatUsd, parseUsd } from '@farthing/protocol/money';
import { FarthingError } from './answers/error.ts';
import type {
  IngestLog,
  IngestManyOptions,
  IngestOutcome,
  IngestSummary,
  NamedSource,
} from './ingest-many.ts';

/** Cost of a folder's upload, before anything is sent. */
export interface FolderPrice {
  /** Files that are not yet uploaded. */
  readonly files: number;
  readonly bytes: number;
  /** Files that the log lists as uploaded. */
  readonly uploaded: number;
  /** Price of uploading the rest by the call; `0` in a workspace. */
  readonly usd: string;
}

export interface IngestFolderOptions extends Omit<IngestManyOptions, 'log'> {
  /** Called before anything is sent; `false` ends the call there. */
  readonly onPrice?: (price: FolderPrice) => unknown;
  /** File that remembers what was uploaded, so that the same call resumes. Default: `.farthing-uploaded` in the folder. */
  readonly logFile?: string;
}

/** A variable instead of a literal in the import, so that bundlers for browsers ignore it. */
const FILE_SYSTEM = 'node:fs/promises';
const LOG_NAME = '.farthing-uploaded';

interface Entry {
  readonly name: string;
  readonly parentPath: string;
  isFile(): boolean;
}
/** The part that is used. */
interface FileSystem {
  readdir(path: string, options: { recursive: true; withFileTypes: true }): Promise<Entry[]>;
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  appendFile(path: string, text: string): Promise<void>;
}

/** Where a folder's files go. */
export interface FolderTarget {
  /** Distinguishes targets in the log. */
  readonly name: string;
  /** Price of one upload in US dollars. */
  readonly usdEach: string;
  ingestMany(sources: readonly NamedSource[], options: IngestManyOptions): Promise<IngestSummary>;
}

interface FolderPlan {
  readonly sources: readonly NamedSource[];
  readonly price: FolderPrice;
  readonly log: IngestLog;
}

/**
 * Uploads what a folder holds and the log does not have. Hidden files and folders are left out.
 * @throws source_unreadable for the folder; otherwise as `ingestMany`
 */
export async function ingestFolder(
  target: FolderTarget,
  folder: string,
  { onPrice, logFile, ...options }: IngestFolderOptions,
): Promise<IngestSummary> {
  const root = folder.replace(/(.)\/+$/, '$1');
  const { sources, price, log } = await planFolder(target, root, logFile ?? `${root}/${LOG_NAME}`);
  const isWanted = (await onPrice?.(price)) !== false;
  const summary = await target.ingestMany(isWanted ? sources : [], { ...options, log });
  return { ...summary, skipped: summary.skipped + price.uploaded };
}

async function planFolder(
  { name: target, usdEach }: FolderTarget,
  folder: string,
  logFile: string,
): Promise<FolderPlan> {
  const { readdir, stat, readFile, appendFile } = (await import(FILE_SYSTEM)) as FileSystem;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: Error) => {
    throw new FarthingError('source_unreadable', `${folder} cannot be read: ${cause.message}.`, { cause });
  });
  const uploaded = new Set((await readFile(logFile, 'utf8').catch(() => '')).split('\n'));
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
  const sources: NamedSource[] = [];
  let [bytes, known] = [0, 0];
  for (const source of paths.filter((path) => !isHidden(path.slice(folder.length))).sort()) {
    const { size, mtimeMs } = await stat(source);
    const key = JSON.stringify([target, source.slice(folder.length), size, mtimeMs]);
    if (uploaded.has(key)) known += 1;
    else {
      sources.push({ source, name: source.split('/').at(-1)!, key });
      bytes += size;
    }
  }
  return {
    sources,
    price: {
      files: sources.length,
      bytes,
      uploaded: known,
      usd: formatUsd(parseUsd(usdEach) * BigInt(sources.length)),
    },
    log: {
      has: (key) => uploaded.has(key),
      // A refused file is not recorded: another attempt is free, and a newer server may read it.
      add: (key: string, outcome: IngestOutcome) =>
        'answer' in outcome ? appendFile(logFile, `${key}\n`) : undefined,
    },
  };
}

function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'));
}
