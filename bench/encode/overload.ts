import { BenchWorkspace, quantile } from '../rig/agent.ts';
import { WireClient } from '../rig/wire-client.ts';
import { CountedServer } from './counted.ts';

const QUERIES = 1_000;
const QUEUE = 256;

/** Claim 4: a thousand searches at once over a thousand connections, with room for 256. */
export async function overload() {
  const server = await CountedServer.start({ QUEUE: String(QUEUE), QUERY_WAIT_MS_MAX: '0' });
  try {
    const workspace = await BenchWorkspace.rent(server.url, 60);
    await workspace.ingest('one.md', new TextEncoder().encode('# One\n\nA lighthouse on a rock.\n'));
    const clients = await Promise.all(Array.from({ length: QUERIES }, () => WireClient.open(server.url)));
    const path = `${new URL(workspace.url).pathname}/search`;
    const answers = await Promise.all(
      clients.map((client, index) =>
        client.send('POST', path, workspace.headers, JSON.stringify({ query: `gulls over rock ${index}` })),
      ),
    );
    // A second answer on a connection would come within this turn of the loop or be an error of the client.
    await new Promise(setImmediate);
    for (const client of clients) client.close();
    const of = (status: number) => answers.filter((answer) => answer.status === status);
    const refused = of(503);
    return {
      sent: QUERIES,
      queue: QUEUE,
      answered: of(200).length,
      refused: refused.length,
      other: answers.length - of(200).length - refused.length,
      // From the client: all bodies are written at once, so the last refusal waits for the reading of all of them.
      refusal_round_trip_ms: {
        p50:
          refused.length > 0
            ? quantile(
                refused.map(({ ms }) => ms),
                0.5,
              )
            : null,
        max: refused.length > 0 ? Math.max(...refused.map(({ ms }) => ms)) : null,
      },
    };
  } finally {
    await server.stop();
  }
}
