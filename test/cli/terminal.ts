import { spawn, spawnSync } from 'node:child_process';
import { type Agent, COMMAND, type Outcome } from './cli-agent.ts';

/** Why there is no terminal to be had here; false when there is one. */
export const noTerminal: string | false =
  spawnSync('script', ['--version']).status === 0 ? false : 'there is no script (util-linux)';

export interface InTerminal {
  readonly environment?: Readonly<Record<string, string>>;
  /** What is typed when the terminal has shown something; each once. */
  readonly replies?: readonly { readonly to: string; readonly reply: string }[];
}

/** Runs a command in a terminal of its own (a pty, by `script` of util-linux). `out` is all that it was sent, as `visible` shows it. */
export async function runInTerminal(
  agent: Agent,
  words: readonly string[],
  { environment = {}, replies = [] }: InTerminal,
): Promise<Outcome> {
  const quoted = [process.execPath, COMMAND, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qfec', quoted, '/dev/null'], {
    env: { ...agent.environment, SHELL: '/bin/sh', FARTHING_TERMINAL_WAIT_MS: '300000', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const left = [...replies];
  let seen = '';
  for await (const piece of child.stdout.setEncoding('utf8')) {
    seen += piece;
    const next = left.findIndex(({ to }) => seen.includes(to));
    if (next >= 0) child.stdin.write(left.splice(next, 1)[0]!.reply);
  }
  return { code: await ended, out: visible(seen), err: '' };
}

/** Escape and bell as pictures of themselves. */
export function visible(text: string): string {
  return text.replaceAll('\u001b', '␛').replaceAll('\u0007', '␇');
}
