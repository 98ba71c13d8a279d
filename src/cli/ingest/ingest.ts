import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { IngestOutcome, NamedSource } from '../../client/index.ts';
import { COMMON_OPTIONS, explainSpending, openAccess } from '../access.ts';
import { EXIT, type Io, UsageError } from '../io.ts';
import { ProgressLine } from '../terminal/progress.ts';
import { IngestMemory } from './ingest-memory.ts';

const OPTIONS = {
  ...COMMON_OPTIONS,
  recursive: { type: 'boolean', short: 'r', default: false },
  concurrency: { type: 'string', short: 'c', default: '4' },
  again: { type: 'boolean', default: false },
} as const;
const CONCURRENCY_MAX = 16;

interface FoundFile {
  readonly source: string;
  readonly name: string;
  /** Path, size and time of change: a changed file has another key. */
  readonly key: string;
}

/** `ingest PATHS… [--recursive]`: resumes an interrupted run. */
export async function ingestCommand(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (positionals.length === 0) throw new UsageError('Which files?');
  const concurrency = Number(values.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > CONCURRENCY_MAX)
    throw new UsageError(`--concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}.`);
  const files: FoundFile[] = [];
  for (const path of positionals) for await (const file of filesIn(path, values.recursive)) files.push(file);
  const access = await openAccess(values, io);
  const memory = await IngestMemory.open(io, access.target, { empty: values.again });
  const line = new ProgressLine(io);
  let ended = 0;
  const onOutcome = (outcome: IngestOutcome) => {
    ended += 1;
    line.clear();
    if (values.json) io.write(`${JSON.stringify(outcomeJson(outcome))}\n`);
    else if ('error' in outcome) io.explain(`${nameOf(outcome.key)}: ${outcome.error.message}\n`);
    line.show(ended / files.length, `${ended}/${files.length} ${nameOf(outcome.key)}`);
  };
  try {
    const target = access.workspace ?? access.client;
    const summary = await target.ingestMany(files as NamedSource[], {
      concurrency,
      log: memory,
      signal: io.signal,
      onOutcome,
      onProgress: (key, progress) => {
        const share =
          progress.stage === 'sending' ? progress.bytes / (progress.bytesTotal || 1) : progress.progress;
        line.show(
          (ended + share / 2) / files.length,
          `${ended}/${files.length} ${progress.stage} ${nameOf(key)}`,
        );
      },
    });
    line.clear();
    const { ingested, duplicates, skipped, failed } = summary;
    const totals = { ingested, duplicates, skipped, failed: failed.length };
    const words = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
    io[values.json ? 'write' : 'explain'](
      values.json ? `${JSON.stringify({ summary: totals })}\n` : `${words.join(', ')}\n`,
    );
    return failed.length > 0 ? EXIT.partly : EXIT.done;
  } finally {
    line.clear();
    await memory.close();
    explainSpending(access, io);
  }
}

async function* filesIn(path: string, recursive: boolean): AsyncGenerator<FoundFile> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new UsageError(`There is no ${path}.`) : error;
  });
  if (!info.isDirectory()) {
    yield foundFile(path, await realpath(path), info);
    return;
  }
  if (!recursive) throw new UsageError(`${path} is a folder: --recursive takes what is in it.`);
  const entries: Dirent[] = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of paths.filter((candidate) => !isHidden(relative(path, candidate))).toSorted())
    yield foundFile(file, await realpath(file), await stat(file));
}

function foundFile(
  source: string,
  real: string,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): FoundFile {
  return { source, name: source.split('/').at(-1)!, key: `${real}\u0000${size}\u0000${mtimeMs}` };
}

/** True for files such as those in `.git`. */
function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'));
}

const nameOf = (key: string) => key.split('\u0000')[0]!.split('/').at(-1)!;

function outcomeJson(outcome: IngestOutcome): object {
  const file = outcome.key.split('\u0000')[0];
  if ('answer' in outcome)
    return { file, item: outcome.answer.item, duplicate: outcome.answer.duplicate ?? false };
  const { code, detail } = outcome.error as { code?: string; detail?: string };
  return { file, error: { code, detail } };
}
