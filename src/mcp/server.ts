import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { FarthingError } from '../client/index.ts';
import type {
  Backend,
  CreateArguments,
  IngestArguments,
  Scope,
  SearchArguments,
  ShownArguments,
} from './backend.ts';
import { readResource, resourceTemplates } from './resources.ts';
import { failureResult, ingestResult, recordResult, searchResult } from './results.ts';
import { toolsFor } from './tools.ts';

const VERSION = '0.1.0';
const INSTRUCTIONS =
  'Search over your own files. Ingest files first, then search; a workspace includes both for a fixed price and time. Results name the page or second of each hit.';

type Arguments = Scope & SearchArguments & ShownArguments & IngestArguments & CreateArguments;

const validator = new AjvJsonSchemaValidator();
const KINDS = ['local', 'remote'] as const;
const TOOLS = Object.fromEntries(KINDS.map((kind) => [kind, toolsFor({ kind })]));
const CHECKS = new Map(
  KINDS.flatMap((kind) =>
    TOOLS[kind]!.map(
      ({ name, inputSchema }) => [`${kind} ${name}`, validator.getValidator<Arguments>(inputSchema)] as const,
    ),
  ),
);

/** An MCP server over a backend. `backendFor` is given the `_meta` of each call, where its payment is. */
export function makeServer(
  kind: Backend['kind'],
  backendFor: (meta: Readonly<Record<string, unknown>>, signal: AbortSignal) => Backend,
): Server {
  const server = new Server(
    { name: 'farthing', title: 'Farthing', version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
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
      const check = CHECKS.get(`${kind} ${params.name}`);
      if (!check) throw new FarthingError('not_found', `There is no tool ${params.name}.`);
      const { valid, data, errorMessage } = check(params.arguments ?? {});
      if (!valid) throw new FarthingError('field_invalid', String(errorMessage));
      return await call(backendFor(params._meta ?? {}, signal), params.name, data);
    } catch (error) {
      return failureResult(error);
    }
  });
  return server;
}

async function call(
  backend: Backend,
  name: string,
  { workspace, token, thumbnails = 0, ...rest }: Arguments,
): Promise<CallToolResult> {
  const scope = { workspace, token };
  switch (name) {
    case 'search':
      return searchResult(backend, await backend.search(rest, scope), thumbnails);
    case 'ingest':
      return ingestResult(backend, await backend.ingest(rest, scope));
    case 'workspace_create':
      return recordResult(await backend.createWorkspace(rest));
    case 'workspace_usage':
      return recordResult(await backend.usage(scope));
    default:
      return recordResult(await backend.dispose(scope));
  }
}
