import { FarthingError } from '@farthing/protocol/error';
import type { ReaderProcess } from './reader-process.ts';

/** A cancelled task may end within this time: a new process costs as much. */
const GRACE_MS = 1000;
/** A process that had less of a processor than this, of the time that it had, stood still: that says nothing of the file. */
const STARVED = 0.05;
/** One that had less than this waited for a busy host, and its file is told so. */
const CROWDED = 0.5;
const STARVED_RETRY_S = 5;
/** How often the time of a processor is looked at. */
const LOOK_INTERVAL_MS = 250;

export interface TaskLimits {
  /** Seconds of the process's own work. The time while the server holds it back does not count. */
  readonly secondsMax: number;
  /** Seconds of processor time. Absent: as many as the task takes. */
  readonly processorSecondsMax?: number;
  readonly signal?: AbortSignal;
}

/** Watches one task of a reader process, and kills the process when the task exceeds a limit or does not end after it was aborted. */
export class TaskWatch {
  readonly #process: Pick<ReaderProcess, 'kill' | 'processorSeconds'>;
  readonly #limits: TaskLimits;
  readonly #began = performance.now();
  readonly #secondsBefore: number;
  readonly #look: NodeJS.Timeout;
  /** Milliseconds of the deadline that were left at `#since`. */
  #left: number;
  #since = 0;
  #holds = 0;
  #deadline: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #endReason: unknown;

  constructor(process: Pick<ReaderProcess, 'kill' | 'processorSeconds'>, limits: TaskLimits) {
    this.#process = process;
    this.#limits = limits;
    this.#secondsBefore = process.processorSeconds ?? 0;
    this.#left = limits.secondsMax * 1000;
    this.#runDeadline();
    this.#look = setInterval(() => this.#checkProcessor(), LOOK_INTERVAL_MS);
    limits.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Why the process was killed; undefined unless it was. */
  get endReason(): unknown {
    return this.#endReason;
  }

  /** Runs a listener, with the deadline stopped for as long as its promise waits. What it throws ends the task. */
  holdBack(listen: () => void | Promise<void>): void | Promise<void> {
    try {
      const waiting = listen();
      if (!waiting) return;
      this.#holdDeadline();
      return waiting.catch((error: unknown) => this.#end(error)).finally(() => this.#resumeDeadline());
    } catch (error) {
      this.#end(error);
    }
  }

  /** Ends the watch. @returns seconds of a processor; for a process that has ended, as if it had had one all the time */
  finish(): number {
    this.#holds = Number.POSITIVE_INFINITY;
    clearTimeout(this.#deadline);
    clearInterval(this.#look);
    clearTimeout(this.#grace);
    this.#limits.signal?.removeEventListener('abort', this.#onAbort);
    return this.#used() ?? (performance.now() - this.#began) / 1000;
  }

  readonly #onAbort = (): void => {
    this.#grace = setTimeout(() => this.#end(this.#limits.signal?.reason), GRACE_MS);
  };

  #runDeadline(): void {
    this.#since = performance.now();
    this.#deadline = setTimeout(
      () => {
        const { secondsMax } = this.#limits;
        const used = this.#used() ?? Number.POSITIVE_INFINITY;
        this.#end(used < STARVED * secondsMax ? starved(secondsMax) : timeout(secondsMax, used));
      },
      Math.max(0, this.#left),
    );
  }

  #holdDeadline(): void {
    if (this.#holds++ > 0) return;
    this.#left -= performance.now() - this.#since;
    clearTimeout(this.#deadline);
  }

  #resumeDeadline(): void {
    if (--this.#holds === 0) this.#runDeadline();
  }

  #checkProcessor(): void {
    const { processorSecondsMax = Number.POSITIVE_INFINITY } = this.#limits;
    if ((this.#used() ?? 0) > processorSecondsMax) this.#end(tooMuchWork(processorSecondsMax));
  }

  #used(): number | undefined {
    const now = this.#process.processorSeconds;
    return now === undefined ? undefined : now - this.#secondsBefore;
  }

  #end(reason: unknown): void {
    this.#endReason ??= reason;
    void this.#process.kill();
  }
}

function starved(seconds: number): FarthingError {
  return new FarthingError(
    'overloaded',
    `The process that reads files had no processor for ${seconds} seconds. Nothing was stored or charged: try again later.`,
    { retryAfterS: STARVED_RETRY_S },
  );
}

/** @param used seconds of a processor */
function timeout(seconds: number, used: number): FarthingError {
  const limit = Math.round(seconds);
  const busy = `, of which it had a processor for ${Math.round(used)}: the server is busy. Send it again later`;
  const why = used < CROWDED * seconds ? busy : '';
  return new FarthingError('extraction_timeout', `Reading the file took more than ${limit} seconds${why}.`, {
    facts: { limit_seconds: limit, ...(why && { processor_seconds: Math.round(used) }) },
  });
}

function tooMuchWork(seconds: number): FarthingError {
  return new FarthingError(
    'extraction_timeout',
    `Reading the file took more than ${Math.round(seconds)} seconds of a processor, too much for its size.`,
    { facts: { limit_processor_seconds: Math.round(seconds) } },
  );
}
