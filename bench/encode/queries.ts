import { join } from 'node:path';
import { native } from '../../src/native/index.ts';
import { BenchWorkspace, inParallel, quantile } from '../rig/agent.ts';
import { WireClient } from '../rig/wire-client.ts';
import { type BeirSet, benchSet, markdownOf } from '../sets/beir.ts';
import { Bare } from './bare.ts';
import { CountedServer } from './counted.ts';

const TOKENIZER = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2/tokenizer.json');
const ROUNDS = 3;

/** The beginnings of queries that have 8 to 12 tokens. */
function shortQueries({ queries }: BeirSet): string[] {
  const tokenizer = new native.TextTokenizer(TOKENIZER, { limit: 256, specialTokens: true, dropped: [] });
  return queries.flatMap(({ text }) => {
    const words = text.split(' ');
    for (let count = Math.min(10, words.length); count > 0; count--) {
      const query = words.slice(0, count).join(' ');
      const length = tokenizer.encode([query], '').lengths()[0]!;
      if (length < 8) return [];
      if (length <= 12) return [query];
    }
    return [];
  });
}

/** Clients, each with one search at a time, for some seconds; milliseconds of each answer. */
async function searchFor(
  workspace: BenchWorkspace,
  clients: number,
  queries: readonly string[],
  milliseconds: number,
): Promise<{ times: number[]; scans: number[]; perSecond: number }> {
  const path = `${new URL(workspace.url).pathname}/search`;
  const [times, scans]: [number[], number[]] = [[], []];
  const opened = await Promise.all(Array.from({ length: clients }, () => WireClient.open(workspace.url)));
  const started = performance.now();
  let next = 0;
  await Promise.all(
    opened.map(async (client) => {
      while (performance.now() - started < milliseconds) {
        const query = queries[next++ % queries.length];
        const body = JSON.stringify({ query, families: ['text_semantic'] });
        const answer = await client.send('POST', path, workspace.headers, body);
        if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body}`);
        times.push(answer.ms);
        scans.push((JSON.parse(answer.body) as { timing: { scan_ms: number } }).timing.scan_ms);
      }
    }),
  );
  const perSecond = (1000 * times.length) / (performance.now() - started);
  for (const client of opened) client.close();
  return { times, scans, perSecond };
}

async function bareHttp(url: string, count: number): Promise<number> {
  const client = await WireClient.open(url);
  const times: number[] = [];
  for (let index = 0; index < count; index++) times.push((await client.send('GET', '/healthz')).ms);
  client.close();
  return quantile(times, 0.5);
}

const ratio = (values: readonly number[]) => quantile(values, 0.5);

/**
 * Queries through the server against the model by itself, in turns, so that both have the machine in the
 * same state.
 */
export async function queriesAgainstBare(seconds: number, documents: number) {
  const set = await benchSet();
  const queries = shortQueries(set);
  const server = await CountedServer.start();
  const { workers } = await server.counts();
  const bare = await Bare.open(workers.query);
  try {
    const workspace = await BenchWorkspace.rent(server.url, 240);
    await inParallel('ingest', set.documents.slice(0, documents), 8, (one) =>
      workspace.ingest(`${one.id}.md`, new TextEncoder().encode(markdownOf(one))),
    );
    await searchFor(workspace, 16, queries, 1_000);
    await server.counts();
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = await server.counts();
      const served = await searchFor(workspace, 16, queries, seconds * 1_000);
      const { counters, loopDelayMs, processorMs } = await server.counts();
      const batch = Math.max(1, Math.round(served.times.length / (counters.runs - before.counters.runs)));
      const alone = await bare.run({ texts: queries, rows: batch, milliseconds: seconds * 1_000 });
      const one = await searchFor(workspace, 1, queries, seconds * 500);
      const forward = await bare.run({ texts: queries, rows: 1, milliseconds: seconds * 500 });
      const parts = {
        forward_ms: quantile(forward.runMs, 0.5),
        http_ms: await bareHttp(server.url, 200),
        scan_ms: quantile(one.scans, 0.5),
      };
      rounds.push({
        clients_16: {
          per_second: {
            value: served.perSecond,
            unit: '/s',
            peer: 'the bare encoder',
            peer_value: alone.perSecond,
          },
          mean_batch: batch,
          share: served.perSecond / alone.perSecond,
          processor_ms_a_query: {
            served: (processorMs - before.processorMs) / served.times.length,
            bare: alone.processorMs / alone.texts,
          },
          p50_ms: quantile(served.times, 0.5),
          p99_ms: quantile(served.times, 0.99),
          loop_delay_ms: loopDelayMs,
        },
        client_1: {
          p50_ms: quantile(one.times, 0.5),
          p99_ms: quantile(one.times, 0.99),
          ...parts,
          ratio: quantile(one.times, 0.5) / (parts.forward_ms + parts.http_ms + parts.scan_ms),
        },
      });
    }
    return {
      share_of_bare: ratio(rounds.map(({ clients_16 }) => clients_16.share)),
      round_trip_ratio: ratio(rounds.map(({ client_1 }) => client_1.ratio)),
      loop_delay_p99_ms: ratio(rounds.map(({ clients_16 }) => clients_16.loop_delay_ms.p99)),
      rounds,
    };
  } finally {
    await server.stop();
  }
}
