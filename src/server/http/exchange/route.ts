import type { ErrorStatus } from '@farthing/protocol/error';
import type { ShownPrice } from '@farthing/protocol/money';
import type { TSchema } from '@sinclair/typebox';
import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';
import type { RoutePattern } from './router.ts';

/** Statuses of problem documents that an operation may answer with. 405 belongs to a path, not to an operation. */
export type OperationError = Exclude<ErrorStatus, 405>;

/** How /openapi.json describes a route. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: 'Per request' | 'Workspaces' | 'House' | 'Service';
  /** `payment`: X-PAYMENT or PAYMENT-SIGNATURE; `token`: the workspace's bearer token, or a key of the house; `key`: that alone. */
  readonly security?: 'payment' | 'token' | 'key';
  readonly price?: ShownPrice;
  readonly requestBody?:
    | { readonly schema: TSchema; readonly required: boolean; readonly example: unknown }
    | 'upload';
  readonly parameters?: readonly ParameterDoc[];
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema?: TSchema;
    /** A whole answer, as it may look. */
    readonly example?: unknown;
    /** The answer is a file instead of JSON: `true`, or its media type. */
    readonly file?: true | string;
    /** A part of the file is given for one `Range`, and 304 to a client that has it. */
    readonly ranged?: true;
    /** The answer is text of this media type instead of JSON. */
    readonly text?: string;
    /** It has an ETag and may be compressed; `If-None-Match` gets 304. */
    readonly kept?: true;
  };
  /** Further answers that are not problem documents. A status that is also in `errors` has two forms. */
  readonly also?: readonly {
    readonly status: number;
    readonly description: string;
    /** Absent: an answer without a body. */
    readonly schema?: TSchema;
  }[];
  /** Statuses of problem documents, without those of `security` and of every route. */
  readonly errors: readonly OperationError[];
}

export interface ParameterDoc {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly schema: TSchema;
}

export interface Route extends RoutePattern {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly operation?: Operation;
  handle(exchange: Exchange, params: Readonly<Record<string, string>>): Promise<Reply> | Reply;
}
