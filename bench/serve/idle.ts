import { setTimeout as after } from 'node:timers/promises';
import { BenchWorkspace, inParallel, quantile, startServer } from '../rig/agent.ts';
import { WireClient } from '../rig/wire-client.ts';
import { benchSet, firstDocuments, markdownOf } from '../sets/beir.ts';

/**
 * A search after a pause beside one right behind another: one client, pauses in turns, words alone and all families.
 */

const [documents, rounds] = [Number(process.env.DOCUMENTS), Number(process.env.ROUNDS)];
/** Milliseconds before a search, and the searches of a round. */
const PAUSES = (
  [
    [0, 60],
    [10, 40],
    [100, 20],
    [1000, 6],
    [4000, 2],
  ] as const
).filter(([pauseMs]) => pauseMs <= Number(process.env.PAUSE_MS_MAX));
const KINDS = { 'raw, 10 hits': { families: ['raw'], k: 10 }, 'all families, 10 hits': { k: 10 } };

const set = await benchSet();
const queries = set.queries.map(({ text }) => text);
const server = await startServer({ TENANT_REQUESTS_PER_SECOND: '1000000' });
const times = new Map<string, number[]>();
try {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  await inParallel('workspace', firstDocuments(set, documents), 8, (one) =>
    workspace.ingest(`${one.id}.md`, Buffer.from(markdownOf(one))),
  );
  const client = await WireClient.open(server.url);
  const path = `${new URL(workspace.url).pathname}/search`;
  let asked = 0;
  const search = async (kind: object): Promise<number> => {
    const body = JSON.stringify({ query: queries[asked++ % queries.length], ...kind });
    const answer = await client.send('POST', path, workspace.headers, body);
    if (answer.status !== 200) throw new Error(`a search was answered ${answer.status}: ${answer.body}`);
    return answer.ms;
  };
  for (const kind of Object.values(KINDS)) for (let warm = 0; warm < 500; warm += 1) await search(kind);
  for (let round = 0; round < rounds; round += 1)
    for (const [name, kind] of Object.entries(KINDS))
      for (const [pauseMs, count] of PAUSES)
        for (let at = 0; at < count; at += 1) {
          if (pauseMs > 0) await after(pauseMs);
          const key = `${name}, after ${pauseMs} ms`;
          times.set(key, [...(times.get(key) ?? []), await search(kind)]);
        }
  client.close();
} finally {
  await server.stop();
}
export const facts = Object.fromEntries(
  Array.from(times, ([key, ms]) => [key, { p50_ms: quantile(ms, 0.5), p90_ms: quantile(ms, 0.9) }]),
);
