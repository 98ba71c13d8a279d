import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { FarthingError } from '../client/index.ts';
import { CONFIDENCE_FLOOR } from '../domain/search.ts';
import type {
  Backend,
  CreateArguments,
  IngestArguments,
  Scope,
  SearchArguments,
  ShownArguments,
} from './backend.ts';
import { brief } from './brief.ts';
import { readResource, resourceTemplates } from './resources.ts';
import { failureResult, ingestResult, recordResult, searchResult } from './results.ts';
import { type ToolName, toolsFor } from './tools.ts';
import { firstFaultValidator } from './validator.ts';

const VERSION = '0.1.0';
const INSTRUCTIONS =
  'Search over your own files. Ingest files first, then search; a workspace includes both for a fixed price and time. Results name the page or second of each hit.';

type Arguments = Scope & SearchArguments & ShownArguments & IngestArguments & CreateArguments;

const TOOL_NAME_LENGTH_MAX = 64;
const KINDS = ['local', 'remote'] as const;
const TOOLS = Object.fromEntries(KINDS.map((kind) => [kind, toolsFor({ kind })]));
const CHECKS = new Map<string, { tool: ToolName; check: JsonSchemaValidator<Arguments> }>(
  KINDS.flatMap((kind) =>
    TOOLS[kind]!.map(({ name, inputSchema }) => {
      const check = firstFaultValidator.getValidator<Arguments>(inputSchema);
      return [`${kind} ${name}`, { tool: name, check }] as const;
    }),
  ),
);

/** An MCP server over a backend. `backendFor` is given the `_meta` of each call, where its payment is. */
export function makeServer(
  kind: Backend['kind'],
  backendFor: (meta: Readonly<Record<string, unknown>>, signal: AbortSignal) => Backend,
): Server {
  const server = new Server(
    { name: 'farthing', title: 'Farthing', version: VERSION },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: firstFaultValidator,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS[kind]! }));
  // A search's results link to what can be read; nothing is listed without being asked for.
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, (_request, { signal }) => ({
    resourceTemplates: resourceTemplates(backendFor({}, signal).baseUrl),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, { signal }) =>
    readResource(backendFor(params._meta ?? {}, signal), params.uri),
  );
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    try {
      const known = CHECKS.get(`${kind} ${params.name}`);
      if (!known)
        throw new FarthingError('not_found', `There is no tool ${brief(params.name, TOOL_NAME_LENGTH_MAX)}.`);
      const { valid, data, errorMessage } = known.check(params.arguments ?? {});
      if (!valid) throw new FarthingError('field_invalid', errorMessage);
      return await call(backendFor(params._meta ?? {}, signal), known.tool, data);
    } catch (error) {
      return failureResult(error);
    }
  });
  return server;
}

async function call(
  backend: Backend,
  name: ToolName,
  { workspace, token, thumbnails = 0, ...rest }: Arguments,
): Promise<CallToolResult> {
  const scope = { workspace, token };
  switch (name) {
    case 'search':
      return searchResult(
        backend,
        await backend.search({ min_confidence: CONFIDENCE_FLOOR, ...rest }, scope),
        thumbnails,
      );
    case 'ingest':
      return ingestResult(backend, await backend.ingest(rest, scope));
    case 'workspace_create':
      return recordResult(await backend.createWorkspace(rest));
    case 'workspace_usage':
      return recordResult(await backend.usage(scope));
    case 'workspace_dispose':
      return recordResult(await backend.dispose(scope));
    default:
      // A tool without its case does not compile.
      return name satisfies never;
  }
}
