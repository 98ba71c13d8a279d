import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startServer } from '../rig/agent.ts';

/** What the built command takes besides the server's own time. */
const BUILT = resolve(import.meta.dirname, '../../.build/server/agent.js');
const RUNS = 15;
const home = mkdtempSync(join(tmpdir(), 'farthing-cli-'));
const server = await startServer();
const env = { PATH: process.env.PATH, HOME: home, FARTHING_URL: server.url };
const run = (...words: string[]) => execFileSync(process.execPath, words, { env, encoding: 'utf8' });
const search = (...words: string[]) =>
  (JSON.parse(run(BUILT, 'search', 'gulls', '--json', ...words)) as { latency_ms: number }).latency_ms;

/** Milliseconds of each run. @param work returns those in it that are the server's */
function timed(work: () => number): number[] {
  return Array.from({ length: RUNS }, () => {
    const began = performance.now();
    const others = work();
    return performance.now() - began - others;
  });
}

export const facts: Record<string, number[]> = {};
try {
  run(BUILT, 'wallet', 'new');
  run(BUILT, 'workspace', 'create');
  facts.node_ms = timed(() => run('-e', '0').length);
  facts.help_ms = timed(() => Math.min(0, run(BUILT, '--help').length));
  facts.search_in_a_workspace_ms = timed(() => search());
  facts.paid_search_ms = timed(() => search('--no-workspace'));
} finally {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
