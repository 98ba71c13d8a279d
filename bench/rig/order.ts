import type { Loop } from './loops.ts';
import type { Offer } from './payer.ts';

export interface LoadRequest {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The load that a driver process makes. */
export interface Order {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent one after the other; from the beginning again when all were sent, unless each is sent `once`. */
  readonly requests: readonly LoadRequest[];
  readonly once?: boolean;
  /** Each request pays with an authorization of its own, signed before the clock starts. */
  readonly payer?: { readonly privateKey: `0x${string}`; readonly offer: Offer };
  readonly loop: Loop;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** Results of the measured part; milliseconds of answers with a status under 300, and of refusals. */
export interface Driven {
  readonly seconds: number;
  /** Answers a second while requests were sent. */
  readonly answeredPerSecond: number;
  readonly answeredMs: readonly number[];
  readonly refusedMs: readonly number[];
  /** Answers by status; 0: the connection ended without one. */
  readonly statuses: Readonly<Record<string, number>>;
  /** How much later than meant requests were sent: what the driver itself adds to an open loop. */
  readonly sentLateMs: readonly number[];
}

/** From the driver to whoever ordered. */
export type DriverMessage =
  | { readonly event: 'measuring' }
  | { readonly event: 'driven'; readonly driven: Driven };
