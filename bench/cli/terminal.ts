import { spawn } from 'node:child_process';
import type { Task } from './tasks.ts';

/** Runs a command in a new pty (`script` of util-linux) of so many columns. @returns all that the terminal was sent */
export async function runAt(
  columns: number,
  command: readonly string[],
  { words, replies = [] }: Task,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const quoted = [...command, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows 40; exec ${quoted}`, '/dev/null'], {
    env: { ...environment, SHELL: '/bin/sh', TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const left = [...replies];
  let seen = '';
  for await (const piece of child.stdout.setEncoding('utf8')) {
    seen += piece;
    const at = left.findIndex(([to]) => to.test(seen));
    if (at >= 0) child.stdin.write(left.splice(at, 1)[0]![1]);
  }
  return seen;
}

const ESC = '\u001b';
/** A carriage return, or "column 1" and "clear": the line begins anew. */
const ANEW = new RegExp(`\\r(?:${ESC}\\[2K)?|${ESC}\\[1G(?:${ESC}\\[0J)?`);
const SEQUENCE = new RegExp(`${ESC}\\[[\\d;?]*[A-Za-z]`, 'g');

/** What stands on the screen at the end: lines that were drawn over are gone, and so are the colours. */
export function screenOf(sent: string): string {
  return sent
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.split(ANEW).findLast((part) => part !== '') ?? '').replace(SEQUENCE, '').trimEnd())
    .join('\n');
}
