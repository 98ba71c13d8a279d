import { formatMilliseconds } from './words.ts';

/** Receives the steps of a start. */
export interface StartProgress {
  /** A step begins, and the one before it is done. */
  begin(step: string): void;
  /** The last step is done. */
  end(): void;
}

export const silentProgress: StartProgress = { begin: () => {}, end: () => {} };

const STEP_COLUMNS = 42;
export const CLEAR_LINE = '\r\x1b[2K';

/** Shows each step on one terminal line while it runs, then how long it took. */
export class TerminalProgress implements StartProgress {
  readonly #write: (text: string) => void;
  #running: { readonly step: string; readonly since: number } | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  begin(step: string): void {
    this.end();
    this.#running = { step, since: performance.now() };
    this.#write(`  … ${step}`);
  }

  end(): void {
    if (!this.#running) return;
    const { step, since } = this.#running;
    this.#running = undefined;
    const took = formatMilliseconds(performance.now() - since).padStart(8);
    this.#write(`${CLEAR_LINE}  ✓ ${step.padEnd(STEP_COLUMNS)}${took}\n`);
  }

  /** A step that failed: its line ends, and the reason follows. */
  fail(): void {
    if (this.#running) this.#write(`${CLEAR_LINE}  ✗ ${this.#running.step}\n`);
    this.#running = undefined;
  }
}
