import type { TSchema } from '@sinclair/typebox';
import type { Answer } from '../../domain/payment.ts';
import type { Exchange } from './exchange.ts';

/** What a handler gives back: a JSON answer, or bytes; `delivered` hears whether it was handed to the network whole. */
export type JsonReply = Answer & { readonly delivered?: (whole: boolean) => void };
export type Reply = JsonReply | ContentReply | BytesReply | EventsReply;

/** Server-sent events, written as they come; between them comments show that the server is still there. */
export interface EventsReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly events: AsyncIterable<{ readonly event: string; readonly data: object }>;
  /** Called once, however it ends. */
  readonly close: () => void;
}

/** Bytes that are all there. With status 304 they are those that the client has, and are not sent. */
export interface BytesReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string | Uint8Array;
  /** Hears whether it was handed to the network whole. */
  readonly delivered?: (whole: boolean) => void;
}

/** Stored bytes, given out as fast as the client takes them. */
export interface ContentReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: {
    /** Of all pieces together. */
    readonly bytes: number;
    readonly pieces: AsyncIterable<Uint8Array>;
    /** Called once, however the giving out ends. */
    readonly close: () => Promise<void>;
  };
}

/** How /openapi.json describes a route. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: 'Per request' | 'Workspaces' | 'Service';
  /** `payment`: X-PAYMENT or PAYMENT-SIGNATURE; `token`: the workspace's bearer token. */
  readonly security?: 'payment' | 'token';
  /** Fixed price in US dollars, or what a dynamic price depends on. */
  readonly price?:
    | { readonly usd: string }
    | { readonly dynamic: string; readonly minUsd: string; readonly maxUsd: string };
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
    /** The answer is text of this media type instead of JSON. */
    readonly text?: string;
    /** It has an ETag, may be compressed, and is not sent again to who has it (304). */
    readonly kept?: true;
  };
  /** Answers beside the success that are no problem documents; those of a status that `errors` has too are its other form. */
  readonly also?: readonly {
    readonly status: number;
    readonly description: string;
    /** Absent: an answer without a body. */
    readonly schema?: TSchema;
  }[];
  /** Statuses of problem documents beside those that follow from `security` and those that any route may have. */
  readonly errors: readonly number[];
}

export interface ParameterDoc {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly schema: TSchema;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly operation?: Operation;
  handle(exchange: Exchange, params: Readonly<Record<string, string>>): Promise<Reply> | Reply;
}
