import type { AnswerMcp } from '@farthing/protocol/schema/mcp';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Scope } from './backend.ts';
import { remoteBackend } from './remote-backend.ts';
import { makeServer } from './server.ts';

export interface EndpointDeps {
  readonly innerUrl: () => string;
  readonly baseUrl: () => string;
}

const PAYMENT_KEY = 'x402/payment';

/**
 * MCP over streamable HTTP, without sessions and without state between requests. The connection may name a workspace
 * (`/mcp?workspace=ID`) and carry its token.
 */
export function mcpEndpoint(deps: EndpointDeps): AnswerMcp {
  return async (request, { message, files }, left) => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    const scope = scopeOf(request);
    const server = makeServer('remote', (meta, cancelled) =>
      remoteBackend({
        innerUrl: deps.innerUrl(),
        baseUrl: deps.baseUrl(),
        payment: meta[PAYMENT_KEY],
        scope,
        files,
        signal: AbortSignal.any([left, cancelled]),
      }),
    );
    try {
      await server.connect(transport);
      return await transport.handleRequest(request, { parsedBody: message });
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
