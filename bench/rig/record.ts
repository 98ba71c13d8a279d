import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { native } from '../../src/native/index.ts';

/** What figures depend on besides the code; the load is that of before the run. */
export function machine() {
  const gpu = firstLine('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader']);
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    /** Of our own kernels; a processor's name does not tell what it can do. */
    instructions: native.kernelName(),
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load_before: loadavg().map((value) => Number(value.toFixed(2))),
    commit: firstLine('git', ['rev-parse', '--short', 'HEAD']) ?? 'unknown',
    ...(gpu === undefined ? {} : { gpu }),
  };
}

function firstLine(command: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(
      '\n',
    )[0];
  } catch {
    return undefined;
  }
}

/** Writes `bench/record/<date>-<machine>/<name>.json` (RECORD_DIR instead of `bench/record`); returns its path. */
export function writeRecord(name: string, facts: object, of: ReturnType<typeof machine>): string {
  const host = (of.gpu ?? of.processor)
    .toLowerCase()
    .replace(/\(r\)|\(tm\)|cpu|processor/g, ' ')
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '');
  const folder = resolve(
    process.env.RECORD_DIR ?? join(import.meta.dirname, '../record'),
    `${new Date().toISOString().slice(0, 10)}-${host}-${of.cores}c`,
  );
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify({ machine: of, ...facts }, null, 2)}\n`);
  return path;
}
