import type { Io } from './io.ts';
import { wrap } from './text.ts';

/** Writes lines to the standard error; at a terminal each is broken between words. */
export function say(io: Io, text: string): void {
  const lines = text.split('\n').flatMap((line) => (io.err ? wrap(line, io.err.columns - 1) : [line]));
  io.explain(`${lines.join('\n')}\n`);
}
