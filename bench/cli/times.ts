import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const BUILT = resolve(import.meta.dirname, '../../.build/server/agent.js');
const RUNS = 15;

/** Medians of the built command, and what it takes besides the server's own time, in milliseconds. */
export function timesOf(url: string, home: string): string {
  if (!existsSync(BUILT)) return 'times: not measured, the command is not built (make server)';
  const env = { PATH: process.env.PATH, HOME: home, FARTHING_URL: url };
  const run = (...words: string[]) =>
    execFileSync(process.execPath, [BUILT, ...words], { env, encoding: 'utf8' });
  run('wallet', 'new');
  run('workspace', 'create');
  const lines = [
    ['node -e 0', () => spawnSync(process.execPath, ['-e', '0']).status ?? 0],
    ['--help', () => Math.min(0, run('--help').length)],
    ['search in a workspace', () => latencyOf(run('search', 'gulls', '--json'))],
    ['search, paid', () => latencyOf(run('search', 'gulls', '--json', '--no-workspace'))],
  ] as const;
  return lines.map(([name, work]) => `${name.padEnd(24)} ${medianOf(work).toFixed(0)} ms`).join('\n');
}

function latencyOf(answer: string): number {
  return (JSON.parse(answer) as { latency_ms: number }).latency_ms;
}

/** @param work returns the milliseconds in it that are the server's */
function medianOf(work: () => number): number {
  const times = Array.from({ length: RUNS }, () => {
    const began = performance.now();
    const others = work();
    return performance.now() - began - others;
  });
  return times.toSorted((a, b) => a - b)[RUNS >> 1]!;
}
