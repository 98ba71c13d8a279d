import type { PrepaidReturn } from '@farthing/payment/prepaid/balances';
import type { Answer } from '@farthing/payment/purchase';
import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import type { StepId } from '@farthing/protocol/id';
import type { ExtensionRef, ExtensionSteps } from '@farthing/server/purchases/extension-steps';
import { BUY_MS_MAX } from '@farthing/server/purchases/paid-workspace';
import type { Peer } from '../peers/peer.ts';
import { PeerAwayError, type PeerCalls, PeerLostError } from '../peers/peer-calls.ts';

/** Names of the calls; `peer-handlers.ts` answers them. */
export const PEER_CALLS = {
  extend: 'extension-extend',
  /** Separate, because a server that does not know reserves must not sell plain minutes instead. */
  reserve: 'extension-reserve',
  commit: 'extension-commit',
  reissue: 'extension-reissue',
  undo: 'extension-undo',
  knows: 'paid-effects',
  takeBack: 'prepaid-return',
} as const;

/** Effects of payments in slots that another server owns. */
export class PeerPurchases {
  readonly #calls: PeerCalls;

  constructor(calls: PeerCalls) {
    this.#calls = calls;
  }

  /** @throws interrupted where the peer did not answer, too: whether it did what it was asked is not known then */
  extensionsAt(peer: Peer): ExtensionSteps {
    const call = (name: string, body: object, timeoutMs?: number) =>
      this.#calls
        .call(peer, name, body, timeoutMs === undefined ? {} : { timeoutMs })
        .catch((error: unknown) => {
          throw error instanceof PeerAwayError || error instanceof PeerLostError ? interrupted(error) : error;
        });
    return {
      extend: async (request) => {
        const name = request.reserveMoney === undefined ? PEER_CALLS.extend : PEER_CALLS.reserve;
        return (await call(name, request, BUY_MS_MAX)) as ExtensionRef;
      },
      commit: async (ref) => (await call(PEER_CALLS.commit, ref)) as Answer,
      reissue: async (ref) => (await call(PEER_CALLS.reissue, ref)) as Answer,
      undo: async (ref) => void (await call(PEER_CALLS.undo, ref)),
    };
  }

  /** Credits a wallet whose store the peer owns. @throws where it does not own it, or does not answer */
  async returnAt(peer: Peer, owed: PrepaidReturn): Promise<void> {
    await this.#calls.call(peer, PEER_CALLS.takeBack, { ...owed, amount: owed.amount.toString() });
  }

  /**
   * Whether a payment of this wallet may still commit the extension, according to the store at the peer.
   * @throws where it does not own it, or does not answer
   */
  async knowsAt(peer: Peer, payer: Address, step: StepId): Promise<boolean> {
    const { known } = (await this.#calls.call(peer, PEER_CALLS.knows, { payer, step })) as {
      known?: unknown;
    };
    if (typeof known !== 'boolean') throw new Error(`${peer.id} does not say whether it knows ${step}`);
    return known;
  }
}

function interrupted(cause: Error): FarthingError {
  return new FarthingError('interrupted', 'Another server did not answer. Send the same request again.', {
    retryAfterS: 2,
    cause,
  });
}
