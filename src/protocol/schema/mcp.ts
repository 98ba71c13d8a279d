import { Type } from '@sinclair/typebox';

/** Messages of JSON-RPC 2.0, as the Model Context Protocol sends them. The protocol defines their contents. */

const IdSchema = Type.Union([Type.String(), Type.Integer()]);

export const McpRequestSchema = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(IdSchema),
    method: Type.String({ description: '`initialize`, `tools/list`, `tools/call`, …' }),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  {
    $id: 'McpRequest',
    description:
      'One message; batches are refused. Without `id` it is a notification. Beside `image_b64`, `text` and `content_b64` it has at most 64 KiB and 1,024 values.',
  },
);

export const McpAnswerSchema = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([IdSchema, Type.Null()])),
    result: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    error: Type.Optional(
      Type.Object({
        code: Type.Integer(),
        message: Type.String(),
        data: Type.Optional(Type.Unknown()),
      }),
    ),
  },
  {
    $id: 'McpAnswer',
    description: 'A result or an error. A tool that must be paid for answers with what to pay.',
  },
);

/** A picture or file that was cut out of its message and replaced by an empty string. */
export interface SentFiles {
  /** The JSON string that was sent. */
  readonly image_b64?: Uint8Array;
  /** UTF-8. */
  readonly text?: Uint8Array;
  /** Decoded; null: it is not base64. */
  readonly content_b64?: Uint8Array | null;
}

/** A message, taken apart before it was parsed. */
export interface SentMessage {
  /** Undefined: the body is not a JSON object. */
  readonly message: unknown;
  readonly files: SentFiles;
}

/** Answers one MCP message. `request` has its head alone: its body was read before. */
export type AnswerMcp = (request: Request, sent: SentMessage, left: AbortSignal) => Promise<Response>;
