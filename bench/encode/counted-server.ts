import { monitorEventLoopDelay } from 'node:perf_hooks';
import { start } from '../../src/bin/start.ts';
import type { EncoderCounters } from '../../src/engine/encode/encoder.ts';
import { readConfig } from '../../src/server/settings/config.ts';

/** The whole server in a process of its own, which tells its parent over IPC what its encoders did and how late its event loop ran. */

export interface ServerCounts {
  readonly counters: EncoderCounters;
  readonly workers: { readonly query: number; readonly ingest: number };
  /** Processor time of the whole process since the start, which a busy machine does not stretch. */
  readonly processorMs: number;
  /** Lateness of the event loop since the last reading. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

const RESOLUTION_MS = 1;
/** Queries that may wait for an encoder; absent: as many as on any server. */
const { QUEUE } = process.env;
const running = await start(readConfig(process.env), QUEUE ? { queryQueueMax: Number(QUEUE) } : {});
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

/** A timer's interval is part of what the histogram holds. */
const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

process.on('message', () => {
  const counts: ServerCounts = {
    counters: running.encoder.counters(),
    processorMs: processorMs(),
    workers: running.encoder.workers,
    loopDelayMs: { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) },
  };
  delay.reset();
  process.send!(counts);
});
process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)));
process.send!({ url: running.url });
