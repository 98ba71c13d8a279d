import { BenchWorkspace, quantile } from '../rig/agent.ts';
import { WireClient } from '../rig/wire-client.ts';
import { CountedServer } from './counted.ts';
import { sentences } from './gpu-parts.ts';

const MILLISECONDS = 10_000;

/** Searches by meaning through the whole server, each client with one at a time, and the next as soon as one is answered or refused. */
export async function clientsThroughServer(provider: string, counts: readonly number[]) {
  const server = await CountedServer.start({ PROVIDER: provider, QUEUE: '4096' });
  try {
    const workspace = await BenchWorkspace.rent(server.url, 60);
    await workspace.ingest('one.md', new TextEncoder().encode(sentences(40, 30).join('\n\n')));
    const path = `${new URL(workspace.url).pathname}/search`;
    const results = [];
    for (const clients of counts) {
      const opened = await Promise.all(Array.from({ length: clients }, () => WireClient.open(server.url)));
      const queries = sentences(1_000, 6);
      const times: number[] = [];
      let refused = 0;
      const started = performance.now();
      await Promise.all(
        opened.map(async (client, first) => {
          for (let next = first; performance.now() - started < MILLISECONDS; next += clients) {
            const body = JSON.stringify({
              query: queries[next % queries.length],
              families: ['text_semantic'],
              k: 5,
            });
            const { status, ms } = await client.send('POST', path, workspace.headers, body);
            if (status === 200) times.push(ms);
            else if (status === 503) refused++;
            else throw new Error(`a search was answered ${status}`);
          }
        }),
      );
      const perSecond = (1000 * times.length) / (performance.now() - started);
      for (const client of opened) client.close();
      const [p50_ms, p99_ms] = [quantile(times, 0.5), quantile(times, 0.99)];
      results.push({ clients, per_second: perSecond, p50_ms, p99_ms, refused });
    }
    return results;
  } finally {
    await server.stop();
  }
}
