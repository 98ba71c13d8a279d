import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { native } from '../../src/native/index.ts';
import { type Cell, csvOf, rowsIn } from './csv.ts';
import { type Facts, figuresOf } from './figures.ts';

/** Columns of a record; a row is one figure of one run. */
export const COLUMNS = [
  'date',
  'machine',
  'simd',
  'cores',
  'load',
  'commit',
  'bench',
  'command',
  'metric',
  'value',
  'unit',
  'low',
  'high',
  'peer',
  'peer_value',
] as const;
export type Row = Readonly<Record<(typeof COLUMNS)[number], Cell>>;

export interface Machine {
  readonly machine: string;
  /** The kernels in use; a processor's name does not tell its instructions. */
  readonly simd: string;
  readonly cores: number;
  /** Before the run: the last minute's. */
  readonly load: number;
  readonly commit: string;
}

/** Everything besides the code that figures depend on. */
export function machineHere(): Machine {
  const gpu = firstLine('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader']);
  return {
    machine: [cpus()[0]?.model ?? 'unknown', gpu].filter(Boolean).join(' + '),
    simd: [...new Set([native.kernelName(), native.encoderKernelName()])].join(' and '),
    cores: availableParallelism(),
    load: Number(loadavg()[0]!.toFixed(1)),
    commit: firstLine('git', ['rev-parse', '--short=8', 'HEAD']) ?? 'unknown',
  };
}

function firstLine(command: string, args: readonly string[]): string | undefined {
  try {
    const output = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return output.split('\n')[0];
  } catch {
    return undefined;
  }
}

export const RECORDS = join(import.meta.dirname, '../record');

/** Appends a run's figures to `bench/record/<date>-<machine>.csv` (RECORD_DIR instead of `bench/record`); returns its path. */
export function record(bench: string, command: string, facts: Facts, of: Machine): string {
  const folder = resolve(process.env.RECORD_DIR || RECORDS);
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const host = of.machine
    .toLowerCase()
    .replace(/\(r\)|\(tm\)|cpu|processor|\d+-core/g, ' ')
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '');
  const path = join(folder, `${date}-${host}-${of.cores}c.csv`);
  const rows = figuresOf(facts).map((figure): Row => ({ date, ...of, bench, command, ...figure }));
  const former = existsSync(path) ? rowsIn<Row>(readFileSync(path, 'utf8')) : [];
  writeFileSync(path, csvOf(COLUMNS, [...former, ...rows]));
  return path;
}
