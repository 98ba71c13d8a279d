import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  type ConfinementReport,
  encodeFrame,
  FrameReader,
  type Reply,
  type Settings,
  type Task,
} from './messages.ts';
import { readReply } from './read-reply.ts';

const BOOTSTRAP = fileURLToPath(new URL('./reader-bootstrap.ts', import.meta.url));

/**
 * No thread that waits for a debugger's signal: it blocks the signal by which threads are confined. Little JavaScript
 * memory, because the decoders have theirs beside it; a quarter of the usual for what is new, which saves 40 MiB and costs about a
 * seventh of the time of reading large texts.
 */
const NODE_FLAGS = [
  '--disable-sigusr1',
  '--max-old-space-size=384',
  '--max-semi-space-size=4',
  '--disable-warning=ExperimentalWarning',
];

const STDERR_BYTES_KEPT = 4096;
const START_SECONDS_MAX = 60;
/** USER_HZ, the same on all machines that Linux shows to programs. */
const TICKS_PER_SECOND = 100;

/** The process ended, or sent something that is no message, before it answered. */
export class ReaderEndedError extends Error {
  readonly lastWords: string;

  constructor(message: string, lastWords: string) {
    super(message);
    this.lastWords = lastWords;
  }
}

/** It was not ready in time: a busy host, not a fault. */
export class SlowStartError extends ReaderEndedError {}

export type DoneReply = Extract<Reply, { reply: 'done' }>;

interface Running {
  readonly onReply: (reply: Reply) => void | Promise<void>;
  readonly resolve: (reply: DoneReply) => void;
  readonly reject: (error: unknown) => void;
}

/** A reader process: it reads strangers' files, one after the other. It may be killed at any time. */
export class ReaderProcess {
  /** Resolves with what confines it, once it is ready to read. */
  readonly ready: Promise<ConfinementReport>;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #frames = new FrameReader();
  readonly #exited: Promise<void>;
  #lastWords = '';
  #running: Running | undefined;
  #ended = false;

  constructor(settings: Settings, startSecondsMax = START_SECONDS_MAX) {
    this.#child = spawn(process.execPath, [...NODE_FLAGS, BOOTSTRAP], {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    this.#pipe = this.#child.stdio[3] as Duplex;
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#end(`it ended with ${signal ?? `status ${code}`}`);
        resolve();
      });
      this.#child.once('error', (error) => {
        this.#end(error.message);
        resolve();
      });
    });
    this.#child.stderr?.on('data', (piece: Buffer) => {
      this.#lastWords = (this.#lastWords + piece.toString('latin1')).slice(-STDERR_BYTES_KEPT);
    });
    this.#pipe.on('error', () => this.kill());
    this.#pipe.on('data', (piece: Buffer) => this.#receive(piece));
    this.ready = this.#start(settings, startSecondsMax);
    // A failed start without a waiter must not be an unhandled rejection.
    this.ready.catch(() => undefined);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Performs one task; one at a time. `onReply` gets what comes before the end; the process waits for its promise.
   * @throws the refusal, or ReaderEndedError.
   */
  run(
    task: Task,
    body: Uint8Array | undefined,
    onReply: (reply: Reply) => void | Promise<void>,
  ): Promise<DoneReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(new ReaderEndedError('the reader has ended', this.#lastWords));
      this.#running = { onReply, resolve, reject };
      for (const piece of encodeFrame(task, body)) this.#pipe.write(piece);
    });
  }

  /** Time that all its threads have taken of the processors, in seconds; undefined once it has ended, or without /proc. */
  get processorSeconds(): number | undefined {
    if (this.#ended) return undefined;
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1');
      // Behind the name, which may hold spaces: fields 14 and 15 of proc_pid_stat(5).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    } catch {
      return undefined;
    }
  }

  /** Kills the process. Resolves when it has ended. */
  kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    this.#pipe.destroy();
    return this.#exited;
  }

  #start(settings: Settings, secondsMax: number): Promise<ConfinementReport> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new SlowStartError('the reader did not start in time', this.#lastWords));
        void this.kill();
      }, secondsMax * 1000);
      const settle = (): void => {
        clearTimeout(timer);
        this.#running = undefined;
      };
      this.#running = {
        onReply: (reply) => {
          if (reply.reply !== 'ready') return;
          settle();
          resolve(reply.confinement);
        },
        resolve: () => undefined,
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      for (const piece of encodeFrame(settings)) this.#pipe.write(piece);
    });
  }

  #receive(piece: Buffer): void {
    try {
      for (const { header, body } of this.#frames.push(piece)) this.#deliver(readReply(header, body));
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
      void this.kill();
    }
  }

  #deliver(reply: Reply): void {
    const running = this.#running;
    if (!running) return;
    if (reply.reply === 'done' || reply.reply === 'refused') this.#running = undefined;
    if (reply.reply === 'done') running.resolve(reply);
    else if (reply.reply === 'refused') running.reject(reply.error);
    else this.#holdBack(running.onReply(reply));
  }

  /** Reads nothing more from the process until the promise settles. */
  #holdBack(waiting: void | Promise<void>): void {
    if (!waiting) return;
    this.#pipe.pause();
    const resume = (): void => void this.#pipe.resume();
    waiting.then(resume, resume);
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#running?.reject(new ReaderEndedError(`the reader stopped: ${why}`, this.#lastWords));
    this.#running = undefined;
  }
}
