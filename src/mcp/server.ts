import { FarthingError } from '@farthing/client';
import { brief } from '@farthing/protocol/brief';
import { nearest } from '@farthing/protocol/nearest';
import { VERSION } from '@farthing/protocol/version';
import { checkWellFormed } from '@farthing/protocol/well-formed';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type JSONRPCErrorResponse,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import type { Scope } from './backend.ts';
import { readResource, resourceTemplates } from './resources.ts';
import { failureResult, recordResult } from './results.ts';
import {
  type ArgumentsOf,
  type Backend,
  type Kind,
  listedTool,
  TOOL_NAMES,
  TOOLS,
  type ToolCalls,
  type ToolName,
} from './tools.ts';
import { firstFaultValidator } from './validator.ts';

const INSTRUCTIONS =
  'Search over your own files. Ingest files first, then search; a workspace includes both for a fixed price and time. Results name the page or second of each hit; item_read gives the text there.';

const TOOL_NAME_LENGTH_MAX = 64;

interface Listed {
  readonly name: ToolName;
  readonly tool: Tool;
  readonly check: JsonSchemaValidator<Scope>;
}

/** The tools of both kinds by name: their schemas are compiled once. */
const LISTED = { local: listed('local'), remote: listed('remote') };

function listed(kind: Kind): ReadonlyMap<string, Listed> {
  return new Map(
    TOOL_NAMES.map((name) => {
      const tool = listedTool(name, kind);
      return [name, { name, tool, check: firstFaultValidator.getValidator<Scope>(tool.inputSchema) }];
    }),
  );
}

/** An MCP server over a backend. `backendFor` is given the `_meta` of each call, where its payment is. */
export function makeServer(
  kind: Kind,
  backendFor: (meta: Readonly<Record<string, unknown>>, signal: AbortSignal) => Backend,
): Server {
  const server = new ClearServer(
    { name: 'farthing', title: 'Farthing', version: VERSION },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: firstFaultValidator,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...LISTED[kind].values()].map(({ tool }) => tool),
  }));
  // Items are found through the links of a search's results; they are not listed.
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, (_request, { signal }) => ({
    resourceTemplates: resourceTemplates(backendFor({}, signal).baseUrl),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, { signal }) =>
    readResource(backendFor(params._meta ?? {}, signal), params.uri),
  );
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    try {
      const known = LISTED[kind].get(params.name);
      if (!known) throw unknownTool(params.name);
      checkWellFormed(params.arguments);
      const { valid, data, errorMessage } = known.check(params.arguments ?? {});
      if (!valid) throw new FarthingError('field_invalid', errorMessage);
      return await call(backendFor(params._meta ?? {}, signal), known.name, data);
    } catch (error) {
      return failureResult(error);
    }
  });
  return server;
}

/** The SDK answers parameters of another shape as its own fault, with a list of all that is wrong: it is the client's, and the first is told. */
class ClearServer extends Server {
  override connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      send('error' in message ? { ...message, error: clear(message.error) } : message, options);
    return super.connect(transport);
  }
}

function clear({ code, message }: JSONRPCErrorResponse['error']): JSONRPCErrorResponse['error'] {
  if (code !== ErrorCode.InternalError || !message.startsWith('[')) return { code, message: brief(message) };
  const [fault] = JSON.parse(message) as [{ path: readonly (string | number)[]; message: string }];
  return { code: ErrorCode.InvalidParams, message: brief(`${fault.path.join('.')}: ${fault.message}`) };
}

function unknownTool(name: string): FarthingError {
  const near = nearest(name, TOOL_NAMES);
  const instead = near ? `Did you mean ${near}?` : `The tools are ${TOOL_NAMES.join(', ')}.`;
  return new FarthingError('not_found', `There is no tool ${brief(name, TOOL_NAME_LENGTH_MAX)}. ${instead}`);
}

/** @param checked arguments that the tool's schema allows, beside the scope */
async function call<Name extends ToolName>(
  backend: Backend,
  name: Name,
  { workspace, token, ...checked }: Scope,
): Promise<CallToolResult> {
  const args = checked as ArgumentsOf<Name>;
  const calls: ToolCalls = backend;
  const answered = await calls[name](args, { workspace, token });
  const result = (await TOOLS[name].result?.(backend, answered, args)) ?? recordResult(answered);
  return answered.warning === undefined
    ? result
    : { ...result, content: [...result.content, { type: 'text', text: answered.warning }] };
}
