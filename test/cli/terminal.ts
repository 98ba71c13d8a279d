import { spawn, spawnSync } from 'node:child_process';
import { type Agent, COMMAND, type Outcome } from './cli-agent.ts';

/** Why there is no terminal to be had here; false when there is one. */
export const noTerminal: string | false =
  spawnSync('script', ['--version']).status === 0 ? false : 'there is no script (util-linux)';

/** What is typed, once, when the terminal has shown something. */
export interface Reply {
  readonly to: string;
  readonly reply: string;
}

/** Runs a command in a new pty (`script` of util-linux). `out` is all that the terminal was sent. */
export async function runInTerminal(
  agent: Agent,
  words: readonly string[],
  replies: readonly Reply[] = [],
): Promise<Outcome> {
  const quoted = [process.execPath, COMMAND, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qfec', quoted, '/dev/null'], {
    env: { ...agent.environment, SHELL: '/bin/sh' },
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
  return { code: await ended, out: seen, err: '' };
}
