import { spawn } from 'node:child_process';

export interface Ended {
  /** The two outputs as they came in. */
  readonly output: string;
  readonly status: number;
}

/** Runs a command to its end. @param timeLimitMs it is killed after so long */
export function runCommand(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  timeLimitMs?: number,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command[0]!, command.slice(1), {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const pieces: Buffer[] = [];
    const keep = (piece: Buffer) => void pieces.push(piece);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const limit =
      timeLimitMs &&
      setTimeout(() => {
        keep(Buffer.from(`\nkilled after ${timeLimitMs / 1000} s\n`));
        child.kill('SIGKILL');
        // What it started may hold them open.
        child.stdout.destroy();
        child.stderr.destroy();
      }, timeLimitMs);
    child.on('error', (error) => resolve({ output: error.message, status: 127 }));
    child.on('close', (status) => {
      clearTimeout(limit);
      resolve({ output: Buffer.concat(pieces).toString('utf8'), status: status ?? 1 });
    });
  });
}
