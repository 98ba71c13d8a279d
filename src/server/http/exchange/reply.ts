import type { Answer } from '@farthing/payment/purchase';

/** A handler's answer. `delivered` is called with whether all of it reached the network. */
export type JsonReply = Answer & { readonly delivered?: (whole: boolean) => void };
export type Reply = JsonReply | ContentReply | BytesReply | EventsReply | RelayedReply;

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
    /** Sum of all pieces; undefined: not known in advance. */
    readonly bytes: number | undefined;
    readonly pieces: AsyncIterable<Uint8Array>;
    /** Called after the last piece if the sum is unknown: whether the body ended as it should. */
    readonly isComplete?: () => boolean;
    /** Called once, at success and failure. */
    readonly close: () => Promise<void>;
  };
}

/** Another server's answer, passed on as it is. */
export interface RelayedReply {
  readonly status: number;
  /** Reason phrase of the status line. */
  readonly reason: string;
  /** All headers but those that frame the body. */
  readonly sent: readonly (readonly [name: string, value: string])[];
  readonly relayed: {
    /** The whole body, where it is small; else it comes in pieces. */
    readonly whole?: Uint8Array;
    /** Length of the body; undefined: not known in advance. For HEAD, the length that GET would have. */
    readonly bytes: number | undefined;
    /** They end early if the other server fails. */
    readonly pieces: AsyncGenerator<Uint8Array>;
    /** Called after the last piece: whether the body ended as it should. */
    readonly isComplete: () => boolean;
  };
  /** Called once, with whether all of it reached the network. */
  readonly delivered: (whole: boolean) => void;
}
