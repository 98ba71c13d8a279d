import { join } from 'node:path';
import { native } from '../../src/native/index.ts';
import { BenchWorkspace, inParallel, quantile } from '../rig/agent.ts';
import { type BeirDocument, benchSet, markdownOf } from '../sets/beir.ts';
import { Bare } from './bare.ts';
import { CountedServer } from './counted.ts';
import { pacedSearches, shortQueries } from './queries.ts';

const TOKENIZER = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2/tokenizer.json');
const CLIENTS = 12;
const QUERY_EVERY_MS = 50;

type Abstracts = readonly BeirDocument[];

/** Passages of some abstracts, cut as the server does. */
async function passagesOf(abstracts: Abstracts): Promise<string[]> {
  const cutter = new native.PassageCutter(TOKENIZER, { limit: 256, specialTokens: true, dropped: [] }, '');
  const cut = await Promise.all(abstracts.map(({ title, text }) => cutter.cut(title, [{ text, start: 0 }])));
  return cut.flat().map(({ words }) => words);
}

async function ingest(title: string, workspace: BenchWorkspace, abstracts: Abstracts): Promise<number> {
  const started = performance.now();
  await inParallel(title, abstracts, CLIENTS, (one) =>
    workspace.ingest(`${one.id}.md`, new TextEncoder().encode(markdownOf(one))),
  );
  return performance.now() - started;
}

/**
 * Claims 2 and 3: tokens a second of an ingest through the server against the model by itself on the same texts, with as
 * many threads at the same priority, in turns; then what an ingest does to searches.
 */
export async function ingestAgainstBare(documents: number) {
  const set = await benchSet();
  const half = Math.floor(documents / 2);
  const [first, second, third] = [
    set.documents.slice(0, half),
    set.documents.slice(half, 2 * half),
    set.documents.slice(2 * half, 3 * half),
  ];
  const server = await CountedServer.start();
  const { workers } = await server.counts();
  const bare = await Bare.open(workers.ingest, 'ingest');
  try {
    const workspace = await BenchWorkspace.rent(server.url, 240);
    await ingest('warm-up', workspace, set.documents.slice(-CLIENTS));
    const rounds = [];
    for (const part of [first, second]) {
      const before = await server.counts();
      const ms = await ingest('ingest', workspace, part);
      const { counters, loopDelayMs, processorMs } = await server.counts();
      const alone = await bare.run({ texts: await passagesOf(part), rows: 1, milliseconds: 0 });
      const tokens = counters.tokens - before.counters.tokens;
      const served = (1000 * tokens) / ms;
      rounds.push({
        documents_per_second: (1000 * part.length) / ms,
        tokens: { value: served, unit: '/s', peer: 'the bare encoder', peer_value: alone.tokensPerSecond },
        share: served / alone.tokensPerSecond,
        processor_ms_a_token: {
          served: (processorMs - before.processorMs) / tokens,
          bare: alone.processorMs / alone.tokens,
        },
        loop_delay_ms: loopDelayMs,
      });
    }
    return {
      share_of_bare: quantile(
        rounds.map(({ share }) => share),
        0.5,
      ),
      loop_delay_p99_ms: Math.max(...rounds.map(({ loop_delay_ms }) => loop_delay_ms.p99)),
      rounds,
      searches: await searchesDuring(workspace, third, shortQueries(set)),
    };
  } finally {
    await server.stop();
  }
}

async function searchesDuring(workspace: BenchWorkspace, abstracts: Abstracts, queries: readonly string[]) {
  const quiet = await pacedSearches(workspace, queries, QUERY_EVERY_MS, AbortSignal.timeout(10_000));
  const over = new AbortController();
  const searching = pacedSearches(workspace, queries, QUERY_EVERY_MS, over.signal);
  const ms = await ingest('ingest while searching', workspace, abstracts);
  over.abort();
  const busy = await searching;
  const figures = (times: readonly number[]) => ({
    searches: times.length,
    p50_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
  });
  return {
    idle: figures(quiet),
    during_ingest: figures(busy),
    p99_ratio: quantile(busy, 0.99) / quantile(quiet, 0.99),
    documents_per_second: (1000 * abstracts.length) / ms,
  };
}
