import { wrapWords } from '../wording/text.ts';
import type { Io, Terminal } from './io.ts';

/** Writes lines to the standard error; at a terminal each is broken between words. */
export function say(io: Io, text: string): void {
  io.explain(`${fitted(text, io.err)}\n`);
}

/** Asks the person at the terminal, in lines that are broken between words; undefined without one. */
export function ask(io: Io, question: string): Promise<boolean> | undefined {
  return io.ask(`${fitted(`${question} [y/N]`, io.err)} `);
}

/** Text for a terminal: lines that are too long are broken between words. */
export function fitted(text: string, terminal: Terminal | undefined): string {
  if (!terminal) return text;
  return text
    .split('\n')
    .flatMap((line) => wrapWords(line, terminal.columns - 1))
    .join('\n');
}
