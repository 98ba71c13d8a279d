import { FarthingError } from '@farthing/protocol/error';
import type { ReaderProcess } from './reader-process.ts';

/** A cancelled task may end within this time: a new process costs as much. */
const GRACE_MS = 1000;
/** A process that had less of a processor than this, of the time that it had, stood still: that says nothing of the file. */
const STARVED = 0.05;
const STARVED_RETRY_S = 5;

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
  readonly #signal: AbortSignal | undefined;
  readonly #began = performance.now();
  readonly #secondsBefore: number;
  readonly #deadline: Deadline;
  readonly #budget: ProcessorBudget;
  #grace: NodeJS.Timeout | undefined;
  #endReason: unknown;

  constructor(
    process: Pick<ReaderProcess, 'kill' | 'processorSeconds'>,
    { secondsMax, processorSecondsMax = Number.POSITIVE_INFINITY, signal }: TaskLimits,
  ) {
    this.#process = process;
    this.#signal = signal;
    this.#secondsBefore = process.processorSeconds ?? 0;
    this.#deadline = new Deadline(secondsMax * 1000, () => {
      const isStarved = (this.#used() ?? Number.POSITIVE_INFINITY) < STARVED * secondsMax;
      this.#end(isStarved ? starved(secondsMax) : timeout(secondsMax));
    });
    this.#budget = new ProcessorBudget(
      processorSecondsMax,
      () => this.#used(),
      () => this.#end(tooMuchWork(processorSecondsMax)),
    );
    signal?.addEventListener('abort', this.#onAbort, { once: true });
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
      this.#deadline.hold();
      return waiting.catch((error: unknown) => this.#end(error)).finally(() => this.#deadline.resume());
    } catch (error) {
      this.#end(error);
    }
  }

  /** Ends the watch. @returns seconds of a processor; for a process that has ended, as if it had had one all the time */
  finish(): number {
    this.#deadline.end();
    this.#budget.end();
    clearTimeout(this.#grace);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    return this.#used() ?? (performance.now() - this.#began) / 1000;
  }

  readonly #onAbort = (): void => {
    this.#grace = setTimeout(() => this.#end(this.#signal?.reason), GRACE_MS);
  };

  #used(): number | undefined {
    const now = this.#process.processorSeconds;
    return now === undefined ? undefined : now - this.#secondsBefore;
  }

  #end(reason: unknown): void {
    this.#endReason ??= reason;
    void this.#process.kill();
  }
}

/** A time limit that can be stopped while others hold the work back. */
export class Deadline {
  #left: number;
  readonly #onOver: () => void;
  #holds = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, onOver: () => void) {
    this.#left = milliseconds;
    this.#onOver = onOver;
    this.#start();
  }

  /** Stops the time until each `hold` has its `resume`. */
  hold(): void {
    if (this.#holds++ > 0) return;
    this.#left -= performance.now() - this.#since;
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (--this.#holds === 0) this.#start();
  }

  /** Stops the time for good. */
  end(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#left));
  }
}

/** How often the time of a processor is looked at. */
const LOOK_INTERVAL_MS = 250;

/** A limit on the time that a process takes of the processors. Waiting costs it nothing. */
export class ProcessorBudget {
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param used processor time that the work has taken until now, in seconds; undefined where that is not known */
  constructor(seconds: number, used: () => number | undefined, onOver: () => void) {
    if (seconds === Number.POSITIVE_INFINITY) return;
    this.#timer = setInterval(() => {
      if ((used() ?? 0) > seconds) onOver();
    }, LOOK_INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }
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
