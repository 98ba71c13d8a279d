import type { Answer } from '../../domain/payment.ts';

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
