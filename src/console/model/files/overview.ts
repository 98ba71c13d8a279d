import type { FileEntry, FileState } from '../state/entry.ts';

/** Progress of a list of files. */
export interface Overview {
  readonly total: number;
  readonly done: number;
  /** Share of all work, 0..1; a file counts by its stages. */
  readonly progress: number;
  /** Being sent or read now. */
  readonly active: readonly FileEntry[];
  readonly waiting: readonly FileEntry[];
  /** By what was said of them, most frequent first. */
  readonly failures: readonly Failure[];
  /** In the workspace, newest first. */
  readonly settled: readonly FileEntry[];
}

export interface Failure {
  readonly why: string;
  readonly files: readonly FileEntry[];
}

/** Range of the progress bar for each state of a file, 0..1. */
const PARTS: Readonly<Partial<Record<FileState, readonly [from: number, to: number]>>> = {
  sending: [0, 0.2],
  accepted: [0.2, 0.25],
  pending: [0.2, 0.25],
  extracting: [0.25, 0.5],
  encoding: [0.5, 0.95],
  committing: [0.95, 1],
};

export function overviewOf(files: readonly FileEntry[]): Overview {
  const active = files.filter(({ state }) => state in PARTS);
  const waiting = files.filter(({ state }) => state === 'waiting');
  const failed = files.filter(isFailed);
  const settled = files.filter(({ state }) => state === 'searchable' || state === 'duplicate');
  const done = settled.length + failed.length;
  const partly = active.reduce((sum, { state, progress }) => {
    const [from, to] = PARTS[state]!;
    return sum + from + (to - from) * progress;
  }, 0);
  return {
    total: files.length,
    done,
    progress: files.length === 0 ? 0 : (done + partly) / files.length,
    active,
    waiting,
    failures: grouped(failed),
    settled,
  };
}

export function isFailed({ state }: FileEntry): boolean {
  return state === 'failed' || state === 'refused' || state === 'cancelled';
}

function grouped(failed: readonly FileEntry[]): Failure[] {
  const groups = new Map<string, FileEntry[]>();
  for (const file of failed) {
    const why = reasonOf(file);
    groups.set(why, [...(groups.get(why) ?? []), file]);
  }
  return [...groups].map(([why, files]) => ({ why, files })).sort((a, b) => b.files.length - a.files.length);
}

/** Without the file's own name, so that the same fault of many files is one. */
function reasonOf({ why, state, name }: FileEntry): string {
  return why?.replaceAll(name, 'The file') ?? state;
}
