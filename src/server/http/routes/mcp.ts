import { FarthingError } from '@farthing/protocol/error';
import {
  type AnswerMcp,
  McpAnswerSchema,
  McpRequestSchema,
  type SentMessage,
} from '@farthing/protocol/schema/mcp';
import { InFlightLimit } from '@farthing/queues/in-flight-limit';
import { TurnLimit } from '@farthing/queues/turn-limit';
import { Type } from '@sinclair/typebox';
import type { HttpLimits } from '../access/services.ts';
import { bearerToken } from '../access/workspace-access.ts';
import { splitBody } from '../body/split-body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { LoopLoad } from '../exchange/loop-load.ts';
import type { Operation, Route } from '../exchange/route.ts';

/** Calls that may run at once; a paid ingest may wait for its job for a minute. */
const CALLS_MAX = 256;
/** Calls that begin while the event loop is busy, otherwise one in each of its turns; one takes about five milliseconds in all. */
const BUSY_CALLS_PER_SECOND = 50;
/** All requests without a workspace's token, whether they pay or not. */
const UNPROVED = 'unproved';
/** Bytes checked for a leading `[`, which means a batch. */
const BATCH_START_BYTES = 1024;
/** Headers that the transport and the tools read. */
const PASSED_ON = /^(?:accept|authorization|content-type|mcp-[a-z0-9-]+)$/;
/** Values that the web platform's `Headers` accept. */
const LATIN_1 = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The transport wants both named, from clients that accept anything too. */
const ACCEPT = 'application/json, text/event-stream';

const OPERATION: Operation = {
  operationId: 'mcp',
  summary:
    'The tools over MCP (streamable HTTP, answered in JSON); each is paid for as the request that it stands for',
  tag: 'Service',
  parameters: [
    {
      name: 'workspace',
      in: 'query',
      description: 'Id of the workspace that the tools work in; its token comes as the bearer token.',
      schema: Type.String(),
    },
  ],
  requestBody: {
    schema: McpRequestSchema,
    required: true,
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  },
  success: { status: 200, description: 'The answer to the message.', schema: McpAnswerSchema },
  also: [
    { status: 202, description: 'A notification was taken.' },
    ...[
      [400, 'A message that cannot be understood.'],
      [406, 'The client takes neither of the media types.'],
      [415, 'The message is not JSON.'],
    ].map(([status, description]) => ({
      status: Number(status),
      description: String(description),
      schema: McpAnswerSchema,
    })),
  ],
  errors: [413, 503],
};

/**
 * POST /mcp: the tools over streamable HTTP. Without sessions there is no stream to GET and nothing to DELETE.
 * @param ownerOf whose workspace it is, if the token is the workspace's
 */
export function mcpRoute(
  answer: AnswerMcp,
  limits: HttpLimits,
  ownerOf: (workspace: string, token: string | undefined) => string | undefined,
): Route {
  const calls = new InFlightLimit(CALLS_MAX);
  const load = new LoopLoad();
  const pace = new TurnLimit(1, () => (load.isBusy ? 1000 / BUSY_CALLS_PER_SECOND : 0));
  return {
    method: 'POST',
    path: '/mcp',
    operation: OPERATION,
    handle: async (exchange) => {
      const workspace = new URLSearchParams(exchange.head.query).get('workspace');
      const proved = workspace === null ? undefined : ownerOf(workspace, bearerToken(exchange));
      if (proved !== undefined) exchange.body.proved(proved);
      const body = await exchange.body.whole(limits.searchBodyBytesMax);
      const owner = proved ?? UNPROVED;
      const leave = calls.enter(() => owner);
      if (!leave) throw TOO_MANY;
      try {
        await pace.enter(owner);
        exchange.signal.throwIfAborted();
        const sent = await readMessage(body);
        const response = await answer(requestOf(exchange), sent, exchange.signal);
        const type = response.headers.get('content-type');
        return {
          status: response.status,
          headers: { 'Cache-Control': 'no-store', ...(type && { 'Content-Type': type }) },
          raw: new Uint8Array(await response.arrayBuffer()),
        };
      } finally {
        leave();
      }
    },
  };
}

/** Made once: making an error costs more than the rest of a refusal. */
const TOO_MANY = new FarthingError('overloaded', 'Too many MCP calls are running. Try again in a moment.');

async function readMessage(body: Buffer): Promise<SentMessage> {
  const { json, picture, text, content, isUnreadable } = await splitBody(body, true);
  // Each message of a batch would count as a request: one body could hold hundreds.
  if (json === undefined && /^\s*\[/.test(body.toString('utf8', 0, BATCH_START_BYTES)))
    throw new FarthingError('request_malformed', 'Send one message a request: batches are not taken.');
  return {
    message: json === undefined ? undefined : JSON.parse(json),
    files: {
      ...(picture && { image_b64: picture }),
      ...(text && { text }),
      ...(content && { content_b64: content }),
      ...(isUnreadable && { content_b64: null }),
    },
  };
}

function requestOf({ head }: Exchange): Request {
  const headers = new Headers(
    [...head.headers].filter(([name, value]) => PASSED_ON.test(name) && LATIN_1.test(value)),
  );
  // Every answer is JSON: a client that accepts it need not accept event streams.
  if (/\*\/\*|application\/json|^$/.test(headers.get('accept') ?? '')) headers.set('accept', ACCEPT);
  return new Request(`http://mcp${head.path}${head.query === '' ? '' : `?${head.query}`}`, {
    method: 'POST',
    headers,
  });
}
