import { once } from 'node:events';
import { resolve } from 'node:path';
import t from 'tap';
import { BenchWorkspace, payingClient, startServer } from '../../../bench/rig/agent.ts';
import { onlyDeep } from '../../rig/deep.ts';
import { CACHE_DIR, FEW_WORKERS } from '../../rig/test-server.ts';

const DAY_MS = 86_400_000;
/** Milliseconds from the true time: a day and ten years on, an hour back, before Unix, a leap second's worth. */
const JUMPS = [DAY_MS, -3_600_000, 3650 * DAY_MS, -60 * 365 * DAY_MS, 1000, 0];
const ROUNDS = 4;
const MINUTES = 15;

const CLAIM = 'a wall clock that jumps under load costs nobody an answer, a file or a minute';

t.test(CLAIM, { skip: onlyDeep }, async (t) => {
  const preload = resolve(import.meta.dirname, 'jumping-clock.ts');
  const server = await startServer({ ...FEW_WORKERS, CACHE_DIR, QUERY_WAIT_MS_MAX: '0' }, { preload });
  t.teardown(() => server.stop());
  const jump = async (milliseconds: number) => {
    const set = once(server.child, 'message');
    server.child.send(milliseconds);
    await set;
  };
  const workspace = await BenchWorkspace.rent(server.url, MINUTES);
  await workspace.ingest('log.txt', Buffer.from('The lighthouse keeper counts gulls at dawn.'));
  let over = false;
  let searches = 0;
  const statuses = new Set<number>();
  const searching = (async () => {
    for (; !over; searches += 1) {
      const body = JSON.stringify({ query: `gulls at dawn, ${searches}` });
      const { status } = await fetch(`${workspace.url}/search`, {
        method: 'POST',
        headers: workspace.headers,
        body,
      });
      statuses.add(status);
    }
  })();
  let files = 0;
  const client = payingClient(server.url);
  for (let round = 0; round < ROUNDS; round++) {
    for (const milliseconds of JUMPS) {
      await jump(milliseconds);
      files += 1;
      await workspace.ingest(`${files}.txt`, Buffer.from(`Gull number ${files}.`));
    }
    // The clock is right again: what is signed now is good.
    t.ok((await client.search({ query: 'gulls' })).timing);
  }
  over = true;
  await searching;
  t.same([...statuses], [200]);
  t.ok(searches >= JUMPS.length, `${searches} searches`);
  const get = async (path: string) =>
    (await (await fetch(`${workspace.url}${path}`, { headers: workspace.headers })).json()) as {
      items: { state: string }[];
      ttl_seconds: number;
    };
  const { items } = await get('/items?limit=200');
  t.equal(items.length, files + 1);
  t.ok(items.every(({ state }) => state === 'searchable'));
  const { headers } = await fetch(`${workspace.url}/usage`, { headers: workspace.headers });
  const left = Number(headers.get('X-Workspace-TTL-Seconds'));
  t.ok(left > 60 * (MINUTES - 5) && left <= 60 * MINUTES, `${left} s left`);
});
