import { randomBytes } from 'node:crypto';
import type { Peer } from '../peers/peer.ts';
import type { PeerCalls } from '../peers/peer-calls.ts';

/** Below the path of calls. */
export const DELIVERED_CALL = 'delivered';

const TRIES = 2;

/** Tells the servers that gave answers whether their clients got them. */
export class DeliveryReports {
  readonly #calls: PeerCalls;
  readonly #sending = new Set<Promise<void>>();

  constructor(calls: PeerCalls) {
    this.#calls = calls;
  }

  /** Without a report the owner takes the answer for lost. */
  send(peer: Peer, id: string, whole: boolean): void {
    const sent = this.#send(peer, id, whole);
    this.#sending.add(sent);
    void sent.finally(() => this.#sending.delete(sent));
  }

  /** Resolves when all are sent. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#sending);
  }

  async #send(peer: Peer, id: string, whole: boolean): Promise<void> {
    for (let left = TRIES; left > 0; left--)
      try {
        await this.#calls.call(peer, DELIVERED_CALL, { id, whole });
        return;
      } catch {
        // It may be asked again: only the first report counts.
      }
  }
}

type Delivered = (whole: boolean) => void;

/** Answers that another server passes on: whether their clients got them is known once it reports. */
export class AwaitedDeliveries {
  readonly #awaited = new Map<string, { readonly delivered: Delivered; readonly late: NodeJS.Timeout }>();
  readonly #reportMsMax: number;

  /** @param reportMsMax a server that has not reported after this long is gone, or never got the answer */
  constructor(reportMsMax: number) {
    this.#reportMsMax = reportMsMax;
  }

  /** @returns the id to report under. Without a report in time it is `false`. */
  add(delivered: Delivered): string {
    const id = randomBytes(16).toString('hex');
    const late = setTimeout(() => this.report(id, false), this.#reportMsMax).unref();
    this.#awaited.set(id, { delivered, late });
    return id;
  }

  /** The first report counts; an unknown id is none. */
  report(id: string, whole: boolean): void {
    const awaited = this.#awaited.get(id);
    if (!awaited) return;
    this.#awaited.delete(id);
    clearTimeout(awaited.late);
    awaited.delivered(whole);
  }

  /** No more reports come. */
  close(): void {
    for (const id of [...this.#awaited.keys()]) this.report(id, false);
  }
}
