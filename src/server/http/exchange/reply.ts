import type { Answer } from '@farthing/payment/purchase';
import type { Timing } from '@farthing/protocol/schema/search';

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

/** What the log says of an answer. */
export interface Outcome {
  /** Why it was refused: the problem's code, or the first word of a 402's error. */
  readonly code?: string;
  /** Milliseconds of the stages in the answer. */
  readonly stages?: Timing;
}

/** The reason of a refusal, and the stages of an answer. */
export function outcomeOf(reply: Reply): Outcome {
  if (!('body' in reply)) return {};
  const { code, error, timing } = reply.body as { code?: unknown; error?: unknown; timing?: Timing };
  if (reply.status >= 400) {
    const reason = reply.status === 402 ? error : code;
    return { code: /^\w{1,64}/.exec(String(reason))?.[0] ?? 'unknown' };
  }
  return timing ? { stages: timing } : {};
}
