import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtServer } from '../../scripts/built-server.ts';
import { runAgentCommand } from '../../src/cli/command.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';

// What is run here was built.
builtServer();
export const COMMAND = resolve(import.meta.dirname, '../../.build/server/agent.js');
export const LAUNCHER = resolve(import.meta.dirname, '../../src/bin/farthing.js');

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The commands with a home of the test's own. */
export class Agent {
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;

  constructor(home: string, server: string, more: Readonly<Record<string, string>> = {}) {
    this.home = home;
    this.environment = {
      ...BARE_ENVIRONMENT,
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_STATE_HOME: join(home, 'state'),
      FARTHING_URL: server,
      ...more,
    };
  }

  /** In this process: a process for each command would take most of the test's time. */
  async run(words: readonly string[]): Promise<Outcome> {
    const said = { out: '', err: '' };
    const code = await runAgentCommand(words, {
      environment: this.environment,
      write: (piece) => {
        said.out += piece;
      },
      explain: (piece) => {
        said.err += piece;
      },
      out: undefined,
      err: undefined,
      ask: () => undefined,
      signal: new AbortController().signal,
    });
    return { code, ...said };
  }

  /**
   * As somebody runs it.
   * @param onOutput sees what the standard output says, and may end the command
   * @param script the launcher, or the command itself, which a kill then meets without anybody around it
   */
  async launch(
    words: readonly string[],
    onOutput?: (text: string, end: (signal?: NodeJS.Signals) => void) => void,
    script = LAUNCHER,
  ): Promise<Outcome> {
    const child = spawn(process.execPath, [script, ...words], {
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((done) => child.once('exit', done));
    if (onOutput)
      child.stdout.on('data', (piece) => onOutput(String(piece), (signal = 'SIGTERM') => child.kill(signal)));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await ended, out, err };
  }

  async json<T>(words: readonly string[]): Promise<T> {
    const { code, out, err } = await this.run([...words, '--json']);
    if (code !== 0) throw new Error(`farthing ${words.join(' ')} ended with ${code}: ${out}${err}`);
    return JSON.parse(out) as T;
  }
}
