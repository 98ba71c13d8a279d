import { once } from 'node:events';
import { type BenchWorkspace, quantile, type StartedServer } from '../rig/agent.ts';

const MEBIBYTE = 2 ** 20;
const TIMES = 20;
const BASE64 = 'A'.repeat(12 * MEBIBYTE);
const VALUES = JSON.stringify({ query: 'gulls', unknown: Array(20_000).fill(1) });
const call = (values: object) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search', arguments: values },
  });

/** Milliseconds of the longest turn of the event loop that a request takes, by what is sent: the median of twenty. */
export async function longestTurns(
  server: StartedServer,
  workspace: BenchWorkspace,
): Promise<Record<string, number>> {
  const json = { 'Content-Type': 'application/json' };
  const mcp = { ...json, Accept: 'application/json, text/event-stream' };
  const own = workspace.headers;
  const path = new URL(workspace.url).pathname;
  const name = { 'Content-Disposition': 'attachment; filename="large.txt"' };
  const requests: Record<string, [path: string, headers: Record<string, string>, body?: string]> = {
    'search, 12 MiB picture, token': [`${path}/search`, own, JSON.stringify({ image_b64: BASE64 })],
    'search, 40 kB of JSON, token': [`${path}/search`, own, VALUES],
    'search, 12 MiB of brackets, token': [`${path}/search`, own, '['.repeat(12 * MEBIBYTE)],
    'search, 12 MiB, unpaid': ['/agent/v1/search', json, JSON.stringify({ image_b64: BASE64 })],
    'MCP search, 12 MiB picture': ['/mcp', mcp, call({ image_b64: BASE64 })],
    'MCP search, 40 kB of values': ['/mcp', mcp, call({ families: Array(900).fill({}) })],
    'MCP, list of tools': ['/mcp', mcp, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
    'workspaces, 60 kB of JSON, unpaid': ['/agent/v1/workspaces', json, `{"a":"${'x'.repeat(60_000)}"}`],
    'ingest, 60 MiB of no known type': [
      `${path}/ingest`,
      { ...own, ...name },
      '\u0001'.repeat(60 * MEBIBYTE),
    ],
    'openapi.json': ['/openapi.json', {}],
    'agents.md': ['/agents.md', {}],
    readyz: ['/readyz', {}],
    'items, a page of 200': [`${path}/items?limit=200`, own],
    'history, a page of 200': [`${path}/history?limit=200`, own],
    usage: [`${path}/usage`, own],
  };
  const found: Record<string, number> = {};
  for (const [what, [place, headers, body]] of Object.entries(requests)) {
    const turns: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      await longestTurn(server);
      await fetch(
        `${server.url}${place}`,
        body === undefined ? { headers } : { method: 'POST', headers, body },
      )
        .then((answer) => answer.arrayBuffer())
        // Refused while it was sent.
        .catch(() => undefined);
      turns.push(await longestTurn(server));
    }
    found[what] = quantile(turns, 0.5);
  }
  return found;
}

/** Of the server's event loop since it was last asked, in milliseconds. */
export async function longestTurn({ child }: StartedServer): Promise<number> {
  const told = once(child, 'message');
  child.send('longest turn?');
  return ((await told) as [number])[0];
}
