import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Test } from 'tap';
import { builtServer } from '../../../scripts/built-server.ts';
import { BARE_ENVIRONMENT, environmentOf } from '../../rig/environment.ts';
import { CACHE_DIR } from '../../rig/test-server.ts';

interface BuiltOptions extends Pick<SpawnOptions, 'stdio' | 'detached'> {
  /** Its output is a terminal, which `script` opens; killing it hangs up. */
  readonly terminal?: boolean;
}

/** Starts the build as `make run` does, in its own process and data folder; killed when the test ends. */
export function spawnBuilt(
  t: Test,
  environment: Readonly<Record<string, string>>,
  { stdio = ['ignore', 'pipe', 'inherit'], detached = false, terminal = false }: BuiltOptions = {},
) {
  const program = [process.execPath, builtServer()];
  const [command = '', ...parts] = terminal
    ? ['script', '-qefc', `exec ${program.join(' ')}`, '/dev/null']
    : program;
  const child = spawn(command, parts, {
    env: environmentOf({
      ...BARE_ENVIRONMENT,
      PORT: '0',
      DATA_DIR: join(t.testdir({}), 'data'),
      CACHE_DIR,
      ...environment,
    }),
    stdio,
    detached,
  });
  const ended = once(child, 'exit') as Promise<[status: number | null, signal: NodeJS.Signals | null]>;
  t.teardown(() => {
    child.kill('SIGKILL');
    return ended;
  });
  return { child, ended };
}
