import type { Answer } from '../../domain/payment.ts';

/** A handler's answer. `delivered` is called with whether all of it reached the network. */
export type JsonReply = Answer & { readonly delivered?: (whole: boolean) => void };
export type Reply = JsonReply | ContentReply | BytesReply | EventsReply;

/** Server-sent events, written as they come, with comments as heartbeats. */
export interface EventsReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly events: AsyncIterable<{ readonly event: string; readonly data: object }>;
  /** Called once, at success and failure. */
  readonly close: () => void;
}

/** Complete bytes. With status 304 they are what the client has, and are not sent. */
export interface BytesReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string | Uint8Array;
  /** Called with whether all of it reached the network. */
  readonly delivered?: (whole: boolean) => void;
}

/** Stored bytes, sent as fast as the client reads them. */
export interface ContentReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: {
    /** Sum of all pieces. */
    readonly bytes: number;
    readonly pieces: AsyncIterable<Uint8Array>;
    /** Called once, at success and failure. */
    readonly close: () => Promise<void>;
  };
}
