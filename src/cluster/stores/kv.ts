import { setTimeout as timeout } from 'node:timers/promises';

/** A row of the engine. */
export interface KvRow {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of its last change; revisions order all changes of the engine. */
  readonly revision: number;
}

/** Conditions of a transaction's changes. `revision` 0: the key is absent. */
export interface KvCondition {
  readonly key: string;
  readonly revision: number;
}

export interface KvTransaction {
  readonly when: readonly KvCondition[];
  /** `lease`: the key vanishes with it. */
  readonly puts?: readonly { readonly key: string; readonly value: Uint8Array; readonly lease?: string }[];
  /** Ranges: `from` <= key < `to`. */
  readonly deletes?: readonly { readonly from: string; readonly to: string }[];
}

/** Rows with `from` <= key < `to` in order, at most `limit`. */
export interface KvRange {
  readonly from: string;
  readonly to: string;
  readonly limit?: number;
}

export interface KvOutcome {
  /** Every condition held, and all changes were made; otherwise none was. */
  readonly done: boolean;
  /** Revision of the changes, or at which a condition failed. */
  readonly revision: number;
}

/** No response: the write may have been applied. */
export class AnswerLostError extends Error {}

/** The engine retains old revisions for a limited time, and this one is gone. */
export class MomentOverError extends Error {}

/**
 * A linearizable store of rows in order of their keys, with conditional transactions: etcd. Everything that it answered is durable on
 * most of its members. @throws AnswerLostError from each method
 */
export interface Kv {
  /** Commits at most 128 conditions, puts and deletes each, and 1.5 MiB. */
  commit(transaction: KvTransaction): Promise<KvOutcome>;
  /** Rows with `from` <= key < `to` in order, at most `limit`. */
  range(from: string, to: string, limit?: number): Promise<KvRow[]>;
  /** The rows of each range, all as of one moment; at most 128. */
  ranges(ranges: readonly KvRange[]): Promise<KvRow[][]>;
  close(): void;
}

/** Keys that vanish together once they are no longer renewed. @throws AnswerLostError from each method */
export interface Leases {
  /** @returns its id */
  grant(seconds: number): Promise<string>;
  /** @returns the seconds that it has again; 0 when it is over */
  renew(id: string): Promise<number>;
  /** Ends it now. */
  revoke(id: string): Promise<void>;
}

/** Tells of changes. */
export interface Watches {
  /**
   * @param onChange called when rows of these ranges may have changed: soon, but perhaps late, more than once, or not at all
   * @returns ends it
   */
  watch(ranges: readonly KvRange[], onChange: () => void): () => void;
}

const RETRY_FIRST_MS = 20;
const RETRY_LAST_MS = 1000;

/** Waits for a number of milliseconds. A simulation passes one that takes no real time. */
export type Pause = (milliseconds: number) => Promise<void>;

/** Waits by the real clock. */
export const realPause: Pause = (milliseconds) => timeout(milliseconds);

/** Asks until there is an answer: the engine comes back. @param onLost called with each lost answer */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  onLost: (error: AnswerLostError) => void,
  pause: Pause = realPause,
): Promise<T> {
  for (let delay = RETRY_FIRST_MS; ; delay = Math.min(2 * delay, RETRY_LAST_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AnswerLostError)) throw error;
      onLost(error);
      await pause(delay);
    }
  }
}

/** The first key after all with this prefix. */
export function behind(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
