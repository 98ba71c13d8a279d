import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtServer } from '../scripts/built-server.ts';
import { quantile } from './agent.ts';
import { machine, writeRecord } from './record.ts';

/**
 * From a spawn to the first `/readyz` that says yes: `npx node bench/start.ts [STARTS]`. The first
 * start embeds the labels of pictures, the others find them in the cache.
 */

const CLAIM_MS = 1_000;
const starts = Number(process.argv[2] ?? 6);
const folder = mkdtempSync(join(tmpdir(), 'farthing-start-'));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function startOnce(): Promise<number> {
  const port = await freePort();
  const began = performance.now();
  const child = spawn(process.execPath, [builtServer()], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      DEMO: '0',
      LOG_LEVEL: 'warn',
    },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.status === 200) return performance.now() - began;
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
      await new Promise((resume) => setTimeout(resume, 5));
    }
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

try {
  const first = await startOnce();
  const later: number[] = [];
  while (later.length < starts - 1) later.push(await startOnce());
  const median = quantile(later, 0.5);
  console.log(
    `first start ready after ${first.toFixed(0)} ms, later ones after ${median.toFixed(0)} ms (median of ${later.length})`,
  );
  console.log(writeRecord('start', { first_ms: first, later_ms: later }, machine()));
  process.exitCode = median <= CLAIM_MS ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
