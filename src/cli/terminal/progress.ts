import { clip } from '../wording/text.ts';
import type { Io } from './io.ts';

const BAR_CELLS = 24;
const CLEAR_LINE = '\r\u001b[2K';
/** Shortest time between two drawings. */
const REDRAW_MS = 80;

/** A line of progress at the bottom of a terminal; nothing without one. */
export class ProgressLine {
  readonly #io: Io;
  #drawnAt = 0;
  #drawn = false;

  constructor(io: Io) {
    this.#io = io;
  }

  /** @param share 0..1 */
  show(share: number, text: string): void {
    const terminal = this.#io.err;
    const now = performance.now();
    if (!terminal || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#drawn = true;
    this.#io.explain(CLEAR_LINE + clip(progressBar(share, text), terminal.columns - 1));
  }

  clear(): void {
    if (this.#drawn) this.#io.explain(CLEAR_LINE);
    this.#drawn = false;
    this.#drawnAt = 0;
  }
}

export function progressBar(share: number, text: string): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_CELLS);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${text}`;
}
