import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Scope } from './backend.ts';
import { remoteBackend } from './remote-backend.ts';
import { makeServer } from './server.ts';

export interface EndpointDeps {
  readonly innerUrl: () => string;
  readonly baseUrl: () => string;
  readonly bodyBytesMax: number;
}

const PAYMENT_KEY = 'x402/payment';

/**
 * MCP over streamable HTTP, without sessions: each request stands alone, so nothing is kept of a client. The connection
 * may name a workspace (`/mcp?workspace=ID`) and bear its token.
 */
export function mcpEndpoint(
  parts: EndpointDeps,
): (request: Request, signal: AbortSignal) => Promise<Response> {
  return async (request, left) => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
      maxRequestBodySize: parts.bodyBytesMax,
    });
    const scope = scopeOf(request);
    const server = makeServer('remote', (meta, cancelled) =>
      remoteBackend({
        innerUrl: parts.innerUrl(),
        baseUrl: parts.baseUrl(),
        payment: meta[PAYMENT_KEY],
        scope,
        signal: AbortSignal.any([left, cancelled]),
      }),
    );
    try {
      await server.connect(transport);
      return await transport.handleRequest(request);
    } finally {
      await server.close();
    }
  };
}

function scopeOf({ url, headers }: Request): Scope {
  return {
    workspace: new URL(url).searchParams.get('workspace') ?? undefined,
    token: /^Bearer (\S{1,256})$/i.exec(headers.get('authorization') ?? '')?.[1],
  };
}
