import type { Peer } from '../../../src/cluster/peers/peer.ts';
import { PeerAwayError, type PeerCalls, PeerLostError } from '../../../src/cluster/peers/peer-calls.ts';
import type { Network } from './engine.ts';
import type { Dice, VirtualProcess, VirtualTime } from './virtual-time.ts';

/** The process at the address of another server. */
export interface PeerPlace {
  readonly process: VirtualProcess | undefined;
  readonly answer: ((name: string, body: unknown) => Promise<unknown>) | undefined;
}

export interface SimulatedPeersOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  /** Process of the caller. */
  readonly process: VirtualProcess;
  readonly network: Network;
  readonly peer: (id: string) => PeerPlace;
}

const TIMEOUT_MS = 5000;

/** A server's way to the others: calls may be late or lost. What cuts it off from the engine does not cut it off from them. */
export class SimulatedPeers implements PeerCalls {
  readonly #options: SimulatedPeersOptions;

  constructor(options: SimulatedPeersOptions) {
    this.#options = options;
  }

  call(
    { id }: Peer,
    name: string,
    body: object,
    { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
  ): Promise<unknown> {
    const { time, dice, process, network, peer } = this.#options;
    return new Promise((resolve, reject) => {
      const isLost = () => dice.happens(network.badness / 4);
      const inTime = (work: () => void, by?: VirtualProcess) => {
        const isSlow = dice.happens(network.badness);
        time.in(dice.between(0.2, isSlow ? 2 * timeoutMs : 15), work, by);
      };
      process.in(timeoutMs, () => reject(new PeerLostError('no answer')));
      if (isLost()) return;
      inTime(() => {
        const { process: by, answer } = peer(id);
        if (!answer || by?.hasEnded) {
          inTime(() => reject(new PeerAwayError('nobody there')), process);
          return;
        }
        const answered = (settle: () => void) => {
          if (!isLost()) inTime(settle, process);
        };
        time.in(
          0,
          () =>
            void answer(name, body).then(
              (found) => answered(() => resolve(found)),
              (error: unknown) => answered(() => reject(error)),
            ),
          by,
        );
      });
    });
  }
}
