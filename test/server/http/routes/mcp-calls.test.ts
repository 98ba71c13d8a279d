import { once } from 'node:events';
import t from 'tap';
import type { Exchange } from '../../../../src/server/http/exchange/exchange.ts';
import { mcpRoute } from '../../../../src/server/http/routes/mcp.ts';

const TOKEN = 'token-of-the-workspace';

/** A call whose answer comes when it is told to. */
function callOf(workspace?: string): Exchange {
  return {
    head: { path: '/mcp', query: workspace ? `workspace=${workspace}` : '', headers: new Map() },
    header: (name: string) => (workspace && name === 'authorization' ? `Bearer ${TOKEN}` : undefined),
    signal: new AbortController().signal,
    body: {
      proved: () => undefined,
      whole: async () => Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}'),
    },
  } as unknown as Exchange;
}

t.test('neither strangers nor one owner can take all places of MCP calls', async (t) => {
  const release = new EventTarget();
  const over = once(release, 'over');
  const route = mcpRoute(
    async () => {
      await over;
      return Response.json({});
    },
    { searchBodyBytesMax: 1024 } as never,
    (id, token) => (token === TOKEN ? id : undefined),
  );
  const calls: Promise<unknown>[] = [];
  const begin = (count: number, workspace?: string) => {
    const begun = Array.from({ length: count }, async () => route.handle(callOf(workspace), {}));
    calls.push(...begun.map((call) => call.catch((error: { code: string }) => error.code)));
  };
  begin(200);
  begin(100, 'greedy');
  begin(16, 'other');
  release.dispatchEvent(new Event('over'));
  const outcomes = await Promise.all(calls);
  const refused = (from: number, to: number) =>
    outcomes.slice(from, to).filter((outcome) => outcome === 'overloaded').length;
  t.equal(refused(0, 200), 200 - 128);
  t.ok(refused(200, 300) > 100 - 64, 'the second has less than half of what is free');
  t.equal(refused(300, 316), 0, 'and leaves room for a third');
});
