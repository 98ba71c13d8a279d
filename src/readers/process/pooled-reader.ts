import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { copyFile, link, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import type { ConfinementReport, Reply, Settings, Task } from './messages.ts';
import { type DoneReply, ReaderEndedError, ReaderProcess, SlowStartError } from './reader-process.ts';
import { type TaskLimits, TaskWatch } from './task-limits.ts';

/**
 * A text counts as so much of a file in a process that has read nothing else: no decoder has seen any bytes there. A new process
 * takes half a second of a processor and holds up the event loop for some ten milliseconds.
 */
const TEXT_WEAR = 0.1;

const SLOW_START_RETRY_S = 30;

/**
 * A file that is opened goes with its task if it has no more bytes: to read what has just been written takes microseconds, and a link
 * that the process reads three turns of other threads.
 */
const SENT_BYTES_MAX = 64 * 1024;

export interface PooledReaderOptions {
  /** For the log. */
  readonly name: string;
  readonly settings: Settings;
  /** The process ends after so long without a task, and starts again with the next. Absent: it stays. */
  readonly idleMsMax?: number | undefined;
  /** A process that is not ready after so many seconds is given up; default 60. */
  readonly startSecondsMax?: number;
  readonly log: (event: object) => void;
}

export interface ReaderTask extends TaskLimits {
  /** Its `path` is replaced by the place where the process finds the file, unless that is small and goes with the task. */
  readonly task: Task;
  readonly file?: string;
  /** Seconds of a processor that it will take, where that is known before. */
  readonly cost?: number | undefined;
  readonly body?: Uint8Array;
  /** Gets what comes before the end. The process waits for a promise; a rejected one ends the task. */
  readonly onReply: (reply: Reply) => void | Promise<void>;
}

/**
 * A reader of a pool: one reader process, kept ready. The process is replaced after a number of files and after any failure, and with it
 * whatever a file did to it.
 */
export class PooledReader {
  readonly #options: PooledReaderOptions;
  #process: ReaderProcess | undefined;
  #isReady = false;
  #performing: Promise<unknown> = Promise.resolve();
  /** Files that the process has read; the texts before any other file count a part. */
  #files = 0;
  /** Only texts have come so far. */
  #textsOnly = true;
  /** Tasks since the start. */
  #tasks = 0;
  #closed = false;
  #confinement: ConfinementReport | undefined;
  #lastSeconds = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: PooledReaderOptions) {
    this.#options = options;
  }

  /** What confines its process; undefined until one has started. */
  get confinement(): ConfinementReport | undefined {
    return this.#confinement;
  }

  /** Whether its process runs, or starts. */
  get isLiving(): boolean {
    return this.#process?.ended === false;
  }

  get isStarting(): boolean {
    return this.isLiving && !this.#isReady;
  }

  /** Seconds that the last task took of the processors, also if it failed. */
  get lastSeconds(): number {
    return this.#lastSeconds;
  }

  /** Starts the process before the first task needs it. Resolves when it has started, or could not. */
  async warm(): Promise<void> {
    if (this.#closed) return;
    await this.#living().ready.catch(() => undefined);
  }

  /**
   * One task at a time.
   * @throws the file's refusal, extraction_timeout, extraction_failed, overloaded, interrupted, or the signal's reason.
   */
  perform(task: ReaderTask): Promise<DoneReply> {
    clearTimeout(this.#idle);
    const performing = this.#perform(task).finally(() => this.#endIfIdle());
    this.#performing = performing.catch(() => undefined);
    return performing;
  }

  /** Ends the process. A running task is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#process?.kill();
    await this.#performing;
  }

  async #perform(task: ReaderTask): Promise<DoneReply> {
    task.signal?.throwIfAborted();
    if (this.#closed) throw stopping();
    const process = this.#living();
    await process.ready.catch((error: unknown) => {
      const isBusy = error instanceof SlowStartError;
      throw isBusy
        ? new FarthingError('overloaded', 'This host is too busy to read files. Try again later.', {
            retryAfterS: SLOW_START_RETRY_S,
          })
        : new FarthingError('internal', 'The process that reads files does not start.', { cause: error });
    });
    const path = join(this.#options.settings.scratch, `${++this.#tasks}`);
    let isText = false;
    const { file } = task;
    const body = file !== undefined && task.task.task === 'open' ? smallFile(file) : undefined;
    const placed = body ? undefined : file;
    try {
      if (placed !== undefined) await place(placed, path);
      const done = await this.#runWithin(process, body ? { ...task, body } : task, path);
      isText = done.fileInfo?.kind === 'text';
      return done;
    } finally {
      if (placed !== undefined) await unlink(path).catch(unlessAbsent);
      this.#textsOnly &&= isText;
      this.#files += this.#textsOnly ? TEXT_WEAR : 1;
      if (this.#files >= this.#options.settings.limits.filesPerProcess) this.#replace(process);
    }
  }

  async #runWithin(process: ReaderProcess, task: ReaderTask, path: string): Promise<DoneReply> {
    const watch = new TaskWatch(process, task);
    try {
      const done = await process.run(
        'path' in task.task ? { ...task.task, path } : task.task,
        task.body,
        (reply) => watch.holdBack(() => task.onReply(reply)),
      );
      if (done.worn) this.#replace(process);
      task.signal?.throwIfAborted();
      return done;
    } catch (error) {
      if (!(error instanceof ReaderEndedError)) throw error;
      this.#replace(process);
      if (watch.endReason !== undefined) throw watch.endReason;
      if (this.#closed) throw stopping();
      const { message, lastWords } = error;
      this.#options.log({
        event: 'extractor_stopped',
        reader: this.#options.name,
        error: message,
        lastWords,
      });
      throw new FarthingError('extraction_failed', whyEnded(error), { cause: error });
    } finally {
      this.#lastSeconds = watch.finish();
    }
  }

  #endIfIdle(): void {
    const { idleMsMax } = this.#options;
    if (idleMsMax !== undefined) this.#idle = setTimeout(() => void this.#process?.kill(), idleMsMax).unref();
  }

  #living(): ReaderProcess {
    if (!this.#process || this.#process.ended) this.#process = this.#start();
    return this.#process;
  }

  #start(): ReaderProcess {
    const { name, settings, log } = this.#options;
    const process = new ReaderProcess(settings, this.#options.startSecondsMax);
    this.#isReady = false;
    this.#files = 0;
    this.#textsOnly = true;
    process.ready.then(
      (confinement) => {
        this.#isReady = true;
        this.#confinement = confinement;
        log({ event: 'extractor_ready', reader: name, ...confinement });
      },
      (error: unknown) => {
        if (this.#closed) return;
        const lastWords = error instanceof ReaderEndedError ? error.lastWords : '';
        log({ event: 'extractor_start_failed', reader: name, error: String(error), lastWords });
      },
    );
    return process;
  }

  #replace(process: ReaderProcess): void {
    void process.kill();
    if (this.#process === process && !this.#closed) this.#process = this.#start();
  }
}

/** What V8, Node, WebAssembly and libvips write when an allocation fails. */
const OUT_OF_MEMORY =
  /out of memory|not enough memory|bad_alloc|allocation failed|memory access out of bounds|Cannot enlarge memory/i;

/** Says what ended the process, and accuses nobody: a file may be harmless and its decoder at fault. */
function whyEnded({ message, lastWords }: ReaderEndedError): string {
  if (OUT_OF_MEMORY.test(lastWords))
    return 'Reading the file takes more memory than a file may use here. Send it in parts, or with smaller pictures.';
  const signal = /SIG[A-Z]+/.exec(message)?.[0];
  const how = signal === undefined ? 'failed' : `crashed (${signal})`;
  return `The program that reads this format ${how} at this file. Nothing of it was stored. Save it anew in its program, or send it in another format.`;
}

export function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.');
}

/** The bytes of a file that has few; undefined for any other. */
function smallFile(path: string): Buffer | undefined {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0 || size > SENT_BYTES_MAX) return undefined;
    const bytes = Buffer.alloc(size);
    return readSync(file, bytes) === size ? bytes : undefined;
  } finally {
    closeSync(file);
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Links the file to where the process may read it; copies it where the file system does not allow links. */
async function place(file: string, path: string): Promise<void> {
  try {
    await link(file, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV' && code !== 'EPERM') throw error;
    await copyFile(file, path);
  }
}
