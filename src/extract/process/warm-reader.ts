import { copyFile, link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import { Deadline } from './deadline.ts';
import type { ConfinementReport, Reply, Settings, Task } from './messages.ts';
import { type DoneReply, ReaderEndedError, ReaderProcess } from './reader-process.ts';

export interface ReaderQueueOptions {
  readonly name: string;
  readonly settings: Settings;
  /** Tasks that may wait. */
  readonly waitingMax: number;
  readonly log: (event: object) => void;
}

export interface ReaderTask {
  /** The task; `path` is filled in with where the child finds the file. */
  readonly task: Task;
  readonly file?: string;
  readonly body?: Uint8Array;
  readonly secondsMax: number;
  readonly signal?: AbortSignal;
  /** A promise holds the child back until it is settled; one that is rejected ends the task. */
  readonly onReply: (reply: Reply) => void | Promise<void>;
}

interface Waiting {
  readonly task: ReaderTask;
  readonly resolve: (reply: DoneReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One warm child process and the tasks that wait for it, in order. The child is replaced after so many files and after
 * any failure: what was done to it ends with it.
 */
export class ReaderQueue {
  readonly #options: ReaderQueueOptions;
  readonly #waiting: Waiting[] = [];
  #child: ReaderProcess | undefined;
  #busy = false;
  #files = 0;
  #count = 0;
  #closed = false;
  #confinement: ConfinementReport | undefined;
  #idle: Promise<void> = Promise.resolve();

  constructor(options: ReaderQueueOptions) {
    this.#options = options;
  }

  /** Starts the child before the first task needs it. Resolves when it has started, or could not. */
  async warm(): Promise<void> {
    if (this.#closed) return;
    await this.#living().ready.catch(() => undefined);
  }

  /** What confines the child; undefined until it has started. */
  get confinement(): ConfinementReport | undefined {
    return this.#confinement;
  }

  /** Tasks that wait or run. */
  get depth(): number {
    return this.#waiting.length + Number(this.#busy);
  }

  /** @throws the file's refusal, extraction_timeout, extraction_failed, overloaded, or the signal's reason. */
  run(task: ReaderTask): Promise<DoneReply> {
    if (this.#closed) return Promise.reject(new FarthingError('interrupted', 'The server is stopping.'));
    if (this.#waiting.length >= this.#options.waitingMax) {
      return Promise.reject(
        new FarthingError('overloaded', 'Too many files wait to be read. Try again later.', {
          retryAfterS: 2,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { task, resolve, reject };
      this.#waiting.push(waiting);
      task.signal?.addEventListener('abort', () => this.#giveUp(waiting), { once: true });
      this.#next();
    });
  }

  /** Ends the child; tasks that wait or run are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const error = new FarthingError('interrupted', 'The server is stopping.');
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    await this.#child?.kill();
    await this.#idle;
  }

  #living(): ReaderProcess {
    if (!this.#child || this.#child.ended) this.#child = this.#start();
    return this.#child;
  }

  #start(): ReaderProcess {
    const child = new ReaderProcess(this.#options.settings);
    this.#files = 0;
    child.ready.then(
      (confinement) => {
        this.#confinement = confinement;
        this.#options.log({ event: 'extractor_ready', lane: this.#options.name, ...confinement });
      },
      (error: unknown) => {
        if (this.#closed) return;
        const lastWords = error instanceof ReaderEndedError ? error.lastWords : '';
        this.#options.log({
          event: 'extractor_start_failed',
          lane: this.#options.name,
          error: String(error),
          lastWords,
        });
      },
    );
    return child;
  }

  #next(): void {
    if (this.#busy || this.#closed) return;
    const waiting = this.#waiting.shift();
    if (!waiting) return;
    this.#busy = true;
    this.#idle = this.#perform(waiting.task)
      .then(waiting.resolve, waiting.reject)
      .finally(() => {
        this.#busy = false;
        this.#next();
      });
  }

  /** A task that is aborted before its turn need not wait for it. */
  #giveUp(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    waiting.reject(waiting.task.signal?.reason);
  }

  async #perform(task: ReaderTask): Promise<DoneReply> {
    task.signal?.throwIfAborted();
    const child = this.#living();
    await child.ready.catch((error: unknown) => {
      throw new FarthingError('internal', 'The process that reads files does not start.', { cause: error });
    });
    const path = join(this.#options.settings.scratch, `${++this.#count}`);
    try {
      if (task.file !== undefined) await place(task.file, path);
      return await this.#withDeadline(child, task, path);
    } finally {
      await rm(path, { force: true });
      this.#files++;
      if (this.#files >= this.#options.settings.limits.filesPerChild) this.#replace(child);
    }
  }

  async #withDeadline(child: ReaderProcess, task: ReaderTask, path: string): Promise<DoneReply> {
    let ended: unknown;
    const end = (reason: unknown): void => {
      ended ??= reason;
      void child.kill();
    };
    const seconds = task.secondsMax;
    const deadline = new Deadline(seconds * 1000, () =>
      end(
        new FarthingError('extraction_timeout', `Reading the file took more than ${seconds} seconds.`, {
          facts: { limit_seconds: seconds },
        }),
      ),
    );
    const onAbort = (): void => end(task.signal?.reason);
    task.signal?.addEventListener('abort', onAbort, { once: true });
    const onReply = (reply: Reply): void | Promise<void> => {
      try {
        const dealing = task.onReply(reply);
        if (!dealing) return;
        deadline.hold();
        return dealing.catch(end).finally(() => deadline.goOn());
      } catch (error) {
        end(error);
      }
    };
    try {
      const done = await child.run(
        'path' in task.task ? { ...task.task, path } : task.task,
        task.body,
        onReply,
      );
      if (done.worn) this.#replace(child);
      return done;
    } catch (error) {
      if (!(error instanceof ReaderEndedError)) throw error;
      this.#replace(child);
      if (ended !== undefined) throw ended;
      this.#options.log({
        event: 'extractor_stopped',
        lane: this.#options.name,
        error: error.message,
        lastWords: error.lastWords,
      });
      throw new FarthingError(
        'extraction_failed',
        'The reader stopped at this file: it needs too much memory, or is made to break readers.',
        { cause: error },
      );
    } finally {
      deadline.end();
      task.signal?.removeEventListener('abort', onAbort);
    }
  }

  #replace(child: ReaderProcess): void {
    void child.kill();
    if (this.#child === child && !this.#closed) this.#child = this.#start();
  }
}

/** The file under another name, where the child may read it: no copy where the file system allows. */
async function place(file: string, path: string): Promise<void> {
  try {
    await link(file, path);
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code !== 'EXDEV' &&
      (error as NodeJS.ErrnoException).code !== 'EPERM'
    )
      throw error;
    await copyFile(file, path);
  }
}
