import { BenchWorkspace, inParallel, quantile, startServer } from '../rig/agent.ts';
import { untilIdle, usageOf } from '../rig/process-tree.ts';
import { WireClient } from '../rig/wire-client.ts';
import { benchSet, firstDocuments, markdownOf } from '../sets/beir.ts';

/**
 * Several questions in one call beside as many calls one after the other, and at the same time: milliseconds until the last answer, and
 * the server's processor time. In turns, so that each has the machine in the same state.
 */
const { DOCUMENTS, QUESTIONS, ROUNDS } = process.env;
const [documents, questions, rounds] = [DOCUMENTS, QUESTIONS, ROUNDS].map(Number) as [number, number, number];
const REPEATED = 20;
const K = 10;

const set = await benchSet();
const server = await startServer({
  TENANT_REQUESTS_PER_SECOND: '1000000',
});
export let facts = {};
try {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  await inParallel('ingest', firstDocuments(set, documents), 8, (one) =>
    workspace.ingest(`${one.id}.md`, new TextEncoder().encode(markdownOf(one))),
  );
  await untilIdle(server.pid);
  const clients = await Promise.all(Array.from({ length: questions }, () => WireClient.open(workspace.url)));
  const path = `${new URL(workspace.url).pathname}/search`;
  const post = (client: WireClient, body: object) =>
    client.send('POST', path, workspace.headers, JSON.stringify(body)).then(({ status, body }) => {
      if (status !== 200) throw new Error(`${status}: ${body}`);
    });
  const ways = {
    one_call: (asked: readonly string[]) => post(clients[0]!, { queries: asked, k: K }),
    calls_in_turn: async (asked: readonly string[]) => {
      for (const query of asked) await post(clients[0]!, { query, k: K });
    },
    calls_at_once: async (asked: readonly string[]) => {
      await Promise.all(asked.map((query, at) => post(clients[at]!, { query, k: K })));
    },
  };
  const found = Object.fromEntries(
    Object.keys(ways).map((name) => [name, { ms: [] as number[], cpu: [] as number[] }]),
  );
  let next = 0;
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, ask] of Object.entries(ways)) {
      const before = usageOf(server.pid).cpuSeconds;
      for (let at = 0; at < REPEATED; at += 1) {
        const asked = Array.from({ length: questions }, () => set.queries[next++ % set.queries.length]!.text);
        const started = performance.now();
        await ask(asked);
        if (round > 0) found[name]!.ms.push(performance.now() - started);
      }
      const used = usageOf(server.pid).cpuSeconds - before;
      if (round > 0) found[name]!.cpu.push((1000 * used) / REPEATED);
    }
  for (const client of clients) client.close();
  const waysFound = Object.entries(found).map(([name, { ms, cpu }]) => ({
    name: name.replaceAll('_', ' '),
    p50_ms: quantile(ms, 0.5),
    p99_ms: quantile(ms, 0.99),
    processor_ms: cpu,
  }));
  facts = { questions: waysFound };
} finally {
  await server.stop();
}
