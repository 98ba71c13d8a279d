import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { quantile } from './agent.ts';
import type { Driven, DriverMessage, Order } from './order.ts';
import { type Usage, usageOf } from './process-tree.ts';

/** Milliseconds at some shares of all answers, for figures. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** One measured run, with what the server used for it. */
export interface Run {
  readonly per_second: number;
  readonly latency_ms: Latency | null;
  readonly refused: number;
  readonly refused_ms: Latency | null;
  readonly statuses: Readonly<Record<string, number>>;
  readonly sent_late_p99_ms: number;
  readonly cpu_ms_per_answer: number;
  readonly cpu_cores: number;
  readonly anonymous_mib: number;
  readonly resident_mib: number;
  readonly open_files: number;
  readonly load: readonly number[];
}

/** Has a process of its own make the load while the server's process is watched. */
export async function drive(order: Order, serverPid: number, loadOf: () => number[]): Promise<Run> {
  const child = fork(join(import.meta.dirname, 'driver.ts'), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const watched: { before?: Usage } = {};
  const driven = await drivenBy(child, order, () => {
    watched.before = usageOf(serverPid);
  });
  const after = usageOf(serverPid);
  return runOf(driven, watched.before ?? after, after, loadOf());
}

function drivenBy(child: ChildProcess, order: Order, onMeasuring: () => void): Promise<Driven> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the load driver ended with ${code}`)));
    child.on('message', (message: DriverMessage) => {
      if (message.event === 'measuring') onMeasuring();
      else resolve(message.driven);
    });
    child.send(order);
  });
}

function runOf(driven: Driven, before: Usage, after: Usage, load: readonly number[]): Run {
  const { seconds, answeredPerSecond, answeredMs, refusedMs, statuses, sentLateMs } = driven;
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  return {
    per_second: rounded(answeredPerSecond),
    latency_ms: latencyOf(answeredMs),
    refused: refusedMs.length,
    refused_ms: latencyOf(refusedMs),
    statuses,
    sent_late_p99_ms: sentLateMs.length > 0 ? rounded(quantile(sentLateMs, 0.99)) : 0,
    cpu_ms_per_answer: answeredMs.length > 0 ? rounded((1000 * cpuSeconds) / answeredMs.length) : 0,
    cpu_cores: rounded(cpuSeconds / seconds),
    anonymous_mib: Math.round(after.anonymousMib),
    resident_mib: Math.round(after.residentMib),
    open_files: after.openFiles,
    load,
  };
}

export function latencyOf(milliseconds: readonly number[]): Latency | null {
  if (milliseconds.length === 0) return null;
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const at = (share: number) =>
    rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!);
  return {
    count: sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
  };
}

const rounded = (value: number) => Number(value.toFixed(3));
