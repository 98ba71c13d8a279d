import type { Route } from '../route.ts';

/** Answers one MCP request in the words of the web platform. */
export type McpAnswer = (request: Request, left: AbortSignal) => Promise<Response>;

/** POST /mcp: the tools over streamable HTTP. Without sessions there is no stream to GET and nothing to DELETE. */
export function mcpRoute(answer: McpAnswer, bodyBytesMax: number): Route {
  return {
    method: 'POST',
    path: '/mcp',
    handle: async (exchange) => {
      const { path, query, headers } = exchange.head;
      const body = await exchange.body.whole(bodyBytesMax);
      const request = new Request(`http://mcp${path}${query === '' ? '' : `?${query}`}`, {
        method: 'POST',
        headers: [...headers].filter(([name]) => !HOP_BY_HOP.has(name)),
        body: new Uint8Array(body),
      });
      const response = await answer(request, exchange.signal);
      const type = response.headers.get('content-type');
      return {
        status: response.status,
        headers: { 'Cache-Control': 'no-store', ...(type && { 'Content-Type': type }) },
        raw: new Uint8Array(await response.arrayBuffer()),
      };
    },
  };
}

/** They belong to the connection; the body is whole by now. */
const HOP_BY_HOP = new Set(['connection', 'transfer-encoding', 'keep-alive', 'upgrade', 'expect']);
