import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Why a test is left out: the first of these programs that this machine has not; false where it has all. */
export function lacksProgram(...names: readonly string[]): string | false {
  const missing = names.find((name) => spawnSync(name, ['--version']).error);
  return missing !== undefined && `${missing} is not installed`;
}

interface Options {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end. @returns its exit status, and all that it wrote: its output, and from a new line its errors */
export async function runProgram(
  command: string,
  words: readonly string[],
  options: Options = {},
): Promise<{ status: number | null; output: string }> {
  const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const between = out && errors && !out.endsWith('\n') ? '\n' : '';
  return { status: await ended, output: `${out}${between}${errors}` };
}

/** The same of a program that must end well. @throws with all that it wrote */
export async function outputOf(
  command: string,
  words: readonly string[],
  options?: Options,
): Promise<string> {
  const { status, output } = await runProgram(command, words, options);
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${output}`);
  return output;
}
