import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { encodeFrame, FrameReader } from './frames.ts';
import { type ConfinementReport, type Reply, readReply, type Settings, type Task } from './messages.ts';

const PROGRAM = fileURLToPath(new URL('../child-bootstrap.ts', import.meta.url));

/**
 * No thread that waits for a debugger's signal (it blocks the one by which threads are confined), little JavaScript
 * memory beside the decoders' own.
 */
const NODE_FLAGS = ['--disable-sigusr1', '--max-old-space-size=384', '--disable-warning=ExperimentalWarning'];

const STDERR_BYTES_KEPT = 4096;
const START_SECONDS_MAX = 60;

/** The process ended, or sent what is no message, before it answered. */
export class ReaderEndedError extends Error {
  readonly lastWords: string;

  constructor(message: string, lastWords: string) {
    super(message);
    this.lastWords = lastWords;
  }
}

export type DoneReply = Extract<Reply, { reply: 'done' }>;

interface Running {
  readonly onReply: (reply: Reply) => void | Promise<void>;
  readonly resolve: (reply: DoneReply) => void;
  readonly reject: (error: unknown) => void;
}

/** One child process that reads strangers' files, one after the other. It may be killed at any time. */
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

  constructor(settings: Settings) {
    this.#child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM], {
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
    this.ready = this.#start(settings);
    // Whoever waits for it hears of a failed start; nobody has to.
    this.ready.catch(() => undefined);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Performs one task; one at a time. `onReply` gets what comes before the end; while a promise of its waits, the child has to.
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

  /** Ends it at once, whatever it does. Resolves when it is gone. */
  kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    this.#pipe.destroy();
    return this.#exited;
  }

  #start(settings: Settings): Promise<ConfinementReport> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new ReaderEndedError('the reader did not start in time', this.#lastWords));
        void this.kill();
      }, START_SECONDS_MAX * 1000);
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

  /** Nothing more is read from the child until what it sent is dealt with. */
  #holdBack(dealing: void | Promise<void>): void {
    if (!dealing) return;
    this.#pipe.pause();
    const goOn = (): void => void this.#pipe.resume();
    dealing.then(goOn, goOn);
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#running?.reject(new ReaderEndedError(`the reader stopped: ${why}`, this.#lastWords));
    this.#running = undefined;
  }
}
