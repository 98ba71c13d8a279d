import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { environmentOf } from '../../test/rig/environment.ts';

const CLOCK_TICKS_PER_SECOND = 100;

/** A server of its own process over a data folder, whose rented time can be moved, and what it costs the machine. */
export class MeasuredServer {
  readonly url: string;
  /** From its own first moment to its first answer, in milliseconds. */
  readonly startMs: number;
  readonly #child: ChildProcess;
  readonly #events: Map<string, number>;

  static async start(data: string, environment: Record<string, string> = {}): Promise<MeasuredServer> {
    const child = fork(resolve(import.meta.dirname, '../../test/rig/served.ts'), [], {
      env: environmentOf({
        PATH: process.env.PATH,
        PORT: '0',
        DEMO: '0',
        DATA_DIR: data,
        LOG_LEVEL: 'warn',
        ...environment,
      }),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const events = new Map<string, number>();
    createInterface(child.stdout!).on('line', (line) => {
      const event = /"event":"([a-z_]+)"/.exec(line)?.[1] ?? '';
      events.set(event, (events.get(event) ?? 0) + 1);
    });
    const [{ url, startMs }] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the server ended before it was ready'))),
    ])) as [{ url: string; startMs: number }];
    return new MeasuredServer(child, url, startMs, events);
  }

  private constructor(child: ChildProcess, url: string, startMs: number, events: Map<string, number>) {
    this.#child = child;
    this.url = url;
    this.startMs = startMs;
    this.#events = events;
  }

  /** How often its log has told of this event. */
  logged(event: string): number {
    return this.#events.get(event) ?? 0;
  }

  /** Lets rented time pass. */
  advance(milliseconds: number): void {
    this.#child.send({ advanceMs: milliseconds });
  }

  /** Resident memory, without that of its child processes. */
  get residentMiB(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  }

  get openFiles(): number {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }

  /** Processor time used so far, in milliseconds. */
  get cpuMs(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
  }

  /** Ends it as a power cut would: what it does at a start is part of what is measured. */
  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
