import { join } from 'node:path';
import { native } from '../../src/native/index.ts';
import { BenchWorkspace, inParallel, quantile } from '../rig/agent.ts';
import { readSciFact, type SciFact } from '../sets/scifact.ts';
import { openBare } from './bare-native.ts';
import { CountedServer } from './counted.ts';
import { pacedSearches, shortQueries } from './queries.ts';

const TOKENIZER = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2/tokenizer.json');
const CLIENTS = 12;
const NICENESS = 10;
const QUERY_EVERY_MS = 50;

type Abstracts = SciFact['abstracts'];

/** What the server encodes of some abstracts. */
function passagesOf(abstracts: Abstracts): string[] {
  const cutter = new native.PassageCutter(TOKENIZER, { limit: 256, specialTokens: true, dropped: [] }, '');
  return abstracts.flatMap(({ title, text }) =>
    cutter.cut(title, [{ text, start: 0 }]).map(({ words }) => words),
  );
}

async function ingest(title: string, workspace: BenchWorkspace, abstracts: Abstracts): Promise<number> {
  const started = performance.now();
  await inParallel(title, abstracts, CLIENTS, ({ id, title, text }) =>
    workspace.ingest(`${id}.md`, new TextEncoder().encode(`# ${title}\n\n${text}\n`)),
  );
  return performance.now() - started;
}

/**
 * Claims 2 and 3: tokens a second of an ingest through the server against the model by itself on the same texts, with as
 * many threads at the same priority, in turns; then what an ingest does to searches.
 */
export async function ingestAgainstBare(folder: string, documents: number) {
  const scifact = await readSciFact(folder);
  const half = Math.floor(documents / 2);
  const [first, second, third] = [
    scifact.abstracts.slice(0, half),
    scifact.abstracts.slice(half, 2 * half),
    scifact.abstracts.slice(2 * half, 3 * half),
  ];
  const server = await CountedServer.start();
  const { workers, textProvider } = await server.counts();
  const bare = await openBare(textProvider, workers.ingest, NICENESS);
  try {
    const workspace = await BenchWorkspace.rent(server.url, 240);
    await ingest('warm-up', workspace, scifact.abstracts.slice(-CLIENTS));
    const rounds = [];
    for (const part of [first, second]) {
      const before = await server.counts();
      const ms = await ingest('ingest', workspace, part);
      const { counters, loopDelayMs, processorMs } = await server.counts();
      const alone = await bare.run({ texts: passagesOf(part), rows: 1, milliseconds: 0 });
      const tokens = counters.tokens - before.counters.tokens;
      const served = (1000 * tokens) / ms;
      rounds.push({
        documents_per_second: (1000 * part.length) / ms,
        served_tokens_per_second: served,
        bare_tokens_per_second: alone.tokensPerSecond,
        share: served / alone.tokensPerSecond,
        processor_ms_a_token: {
          served: (processorMs - before.processorMs) / tokens,
          bare: alone.processorMs / alone.tokens,
        },
        tokens: { served: tokens, bare: alone.tokens },
        loop_delay_ms: loopDelayMs,
      });
    }
    return {
      threads: workers.ingest,
      clients: CLIENTS,
      share_of_bare: quantile(
        rounds.map(({ share }) => share),
        0.5,
      ),
      loop_delay_p99_ms: Math.max(...rounds.map(({ loop_delay_ms }) => loop_delay_ms.p99)),
      rounds,
      searches: await searchesDuring(workspace, third, shortQueries(scifact)),
    };
  } finally {
    await bare.close();
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
