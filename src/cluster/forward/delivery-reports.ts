import type { Peer } from '../peers/peer.ts';
import type { PeerCalls } from '../peers/peer-calls.ts';

/** Below the path of calls. */
export const DELIVERED_CALL = 'delivered';

const TRIES = 2;

/** Tells the servers that gave answers whether their clients got them. */
export class DeliveryReports {
  readonly #calls: PeerCalls;
  readonly #underWay = new Set<Promise<void>>();

  constructor(calls: PeerCalls) {
    this.#calls = calls;
  }

  /** Without a report the owner takes the answer for lost. */
  send(peer: Peer, id: string, whole: boolean): void {
    const sent = this.#send(peer, id, whole);
    this.#underWay.add(sent);
    void sent.finally(() => this.#underWay.delete(sent));
  }

  /** Resolves when none is under way. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#underWay);
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
