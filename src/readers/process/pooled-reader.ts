import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { copyFile, link, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { Deadline, ProcessorBudget } from './deadline.ts';
import type { ConfinementReport, Reply, Settings, Task } from './messages.ts';
import { type DoneReply, ReaderEndedError, ReaderProcess } from './reader-process.ts';

/** A cancelled task may end within this time: a new process costs as much. */
const GRACE_MS = 1000;
/**
 * A text counts as so much of a file in a process that has read nothing else: no decoder has seen any bytes there. A new process
 * takes half a second of a processor and holds up the event loop for some ten milliseconds.
 */
const TEXT_WEAR = 0.1;

/** A reader that had less of a processor than this, of the time that it had, stood still: that says nothing of the file. */
const STARVED = 0.05;
const STARVED_RETRY_S = 5;

/**
 * A file that is opened goes with its task if it has no more bytes: to read what has just been written takes microseconds, and a link
 * that the child reads three turns of other threads.
 */
const SENT_BYTES_MAX = 64 * 1024;

export interface WarmReaderOptions {
  /** For the log. */
  readonly name: string;
  readonly settings: Settings;
  /** The process ends after so long without a task, and starts again with the next. Absent: it stays. */
  readonly idleMsMax?: number | undefined;
  readonly log: (event: object) => void;
}

export interface ReaderTask {
  /** Its `path` is replaced by the place where the child finds the file, unless that is small and goes with the task. */
  readonly task: Task;
  readonly file?: string;
  readonly body?: Uint8Array;
  /** Seconds of the child's own work. The time while `onReply` holds it back does not count. */
  readonly secondsMax: number;
  /** Seconds of processor time. Absent: as many as the task takes. */
  readonly processorSecondsMax?: number;
  readonly signal?: AbortSignal;
  /** Gets what comes before the end. The child waits for a promise; a rejected one ends the task. */
  readonly onReply: (reply: Reply) => void | Promise<void>;
}

/**
 * One child process, kept ready. It is replaced after a number of files and after any failure, and with it whatever a file
 * did to it.
 */
export class WarmReader {
  readonly #options: WarmReaderOptions;
  #child: ReaderProcess | undefined;
  #isReady = false;
  #performing: Promise<unknown> = Promise.resolve();
  /** Files that the child has read; the texts before any other file count a part. */
  #files = 0;
  /** Only texts have come so far. */
  #textsOnly = true;
  /** Tasks since the start. */
  #tasks = 0;
  #closed = false;
  #confinement: ConfinementReport | undefined;
  #lastSeconds = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: WarmReaderOptions) {
    this.#options = options;
  }

  /** What confines the child; undefined until one has started. */
  get confinement(): ConfinementReport | undefined {
    return this.#confinement;
  }

  /** Whether its child runs, or starts. */
  get isLiving(): boolean {
    return this.#child?.ended === false;
  }

  get isStarting(): boolean {
    return this.isLiving && !this.#isReady;
  }

  /** That the last task took of the processors, also if it failed. */
  get lastSeconds(): number {
    return this.#lastSeconds;
  }

  /** Starts the child before the first task needs it. Resolves when it has started, or could not. */
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

  /** Ends the child. A running task is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#child?.kill();
    await this.#performing;
  }

  async #perform(task: ReaderTask): Promise<DoneReply> {
    task.signal?.throwIfAborted();
    if (this.#closed) throw stopping();
    const child = this.#living();
    await child.ready.catch((error: unknown) => {
      throw new FarthingError('internal', 'The process that reads files does not start.', { cause: error });
    });
    const path = join(this.#options.settings.scratch, `${++this.#tasks}`);
    let isText = false;
    const { file } = task;
    const body = file !== undefined && task.task.task === 'open' ? smallFile(file) : undefined;
    const placed = body ? undefined : file;
    try {
      if (placed !== undefined) await place(placed, path);
      const done = await this.#withDeadline(child, body ? { ...task, body } : task, path);
      isText = done.fileInfo?.kind === 'text';
      return done;
    } finally {
      if (placed !== undefined) await unlink(path).catch(unlessAbsent);
      this.#textsOnly &&= isText;
      this.#files += this.#textsOnly ? TEXT_WEAR : 1;
      if (this.#files >= this.#options.settings.limits.filesPerChild) this.#replace(child);
    }
  }

  async #withDeadline(child: ReaderProcess, task: ReaderTask, path: string): Promise<DoneReply> {
    const seconds = task.secondsMax;
    let endReason: unknown;
    const began = performance.now();
    const before = child.processorSeconds ?? 0;
    /** Processor time of this task, in seconds. */
    const used = (): number | undefined => {
      const now = child.processorSeconds;
      return now === undefined ? undefined : now - before;
    };
    const end = (reason: unknown): void => {
      endReason ??= reason;
      void child.kill();
    };
    const deadline = new Deadline(seconds * 1000, () => {
      const isStarved = (used() ?? Number.POSITIVE_INFINITY) < STARVED * seconds;
      end(isStarved ? starved(seconds) : timeout(seconds));
    });
    const { processorSecondsMax = Number.POSITIVE_INFINITY } = task;
    const budget = new ProcessorBudget(processorSecondsMax, used, () =>
      end(tooMuchWork(processorSecondsMax)),
    );
    let grace: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      grace = setTimeout(() => end(task.signal?.reason), GRACE_MS);
    };
    task.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const done = await child.run(
        'path' in task.task ? { ...task.task, path } : task.task,
        task.body,
        (reply) => holdingBack(() => task.onReply(reply), deadline, end),
      );
      if (done.worn) this.#replace(child);
      task.signal?.throwIfAborted();
      return done;
    } catch (error) {
      if (!(error instanceof ReaderEndedError)) throw error;
      this.#replace(child);
      if (endReason !== undefined) throw endReason;
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
      // Of a child that has ended: as if it had had a processor all the time.
      this.#lastSeconds = used() ?? (performance.now() - began) / 1000;
      deadline.end();
      budget.end();
      clearTimeout(grace);
      task.signal?.removeEventListener('abort', onAbort);
    }
  }

  #endIfIdle(): void {
    const { idleMsMax } = this.#options;
    if (idleMsMax !== undefined) this.#idle = setTimeout(() => void this.#child?.kill(), idleMsMax).unref();
  }

  #living(): ReaderProcess {
    if (!this.#child || this.#child.ended) this.#child = this.#start();
    return this.#child;
  }

  #start(): ReaderProcess {
    const { name, settings, log } = this.#options;
    const child = new ReaderProcess(settings);
    this.#isReady = false;
    this.#files = 0;
    this.#textsOnly = true;
    child.ready.then(
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
    return child;
  }

  #replace(child: ReaderProcess): void {
    void child.kill();
    if (this.#child === child && !this.#closed) this.#child = this.#start();
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

function starved(seconds: number): FarthingError {
  return new FarthingError(
    'overloaded',
    `The process that reads files had no processor for ${seconds} seconds. Nothing was stored or charged: try again later.`,
    { retryAfterS: STARVED_RETRY_S },
  );
}

function timeout(seconds: number): FarthingError {
  return new FarthingError('extraction_timeout', `Reading the file took more than ${seconds} seconds.`, {
    facts: { limit_seconds: seconds },
  });
}

function tooMuchWork(seconds: number): FarthingError {
  return new FarthingError(
    'extraction_timeout',
    `Reading the file took more than ${Math.round(seconds)} seconds of a processor, too much for its size.`,
    { facts: { limit_processor_seconds: Math.round(seconds) } },
  );
}

/** Runs a listener, with the deadline stopped for as long as its promise waits. What it throws ends the task. */
function holdingBack(
  listen: () => void | Promise<void>,
  deadline: Deadline,
  end: (reason: unknown) => void,
): void | Promise<void> {
  try {
    const waiting = listen();
    if (!waiting) return;
    deadline.hold();
    return waiting.catch(end).finally(() => deadline.resume());
  } catch (error) {
    end(error);
  }
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

/** Links the file to where the child may read it; copies it where the file system does not allow links. */
async function place(file: string, path: string): Promise<void> {
  try {
    await link(file, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV' && code !== 'EPERM') throw error;
    await copyFile(file, path);
  }
}
