import { setTimeout as pause } from 'node:timers/promises';
import type { PaymentGate } from '@farthing/payment/gate/gate';
import type { PrepaidReturn } from '@farthing/payment/prepaid/balances';
import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { payerTenantId, type StepId } from '@farthing/protocol/id';
import { type ExtensionSteps, extensionsIn } from '@farthing/server/purchases/extension-steps';
import type { Purchases } from '@farthing/server/purchases/purchases';
import type { Workspaces } from '@farthing/server/workspace/workspaces';
import type { Peer } from '../peers/peer.ts';
import type { BooksHere } from './peer-handlers.ts';
import type { PeerPurchases } from './peer-purchases.ts';
import type { SharedLock } from './shared-lock.ts';

/** The services of a slot that cross-slot payments use. */
export interface PaidServices {
  readonly workspaces: Workspaces;
  readonly purchases: Pick<Purchases, 'extension'>;
  readonly gate: Pick<PaymentGate, 'openEffects' | 'takeBack'>;
  readonly stable?: () => Promise<void>;
}

/** Location of a slot, as `SlotPlace`. */
export type PaidPlace =
  | { readonly services: PaidServices }
  | { readonly peer: Peer }
  | { readonly moving: Promise<void> };

export interface AcrossSlotsDeps {
  readonly placeOf: (id: string) => PaidPlace;
  readonly lock: SharedLock;
  /** Absent: no other server has slots. */
  readonly peers?: PeerPurchases;
}

/** A slot that moves for longer is interrupted, for a later retry. */
const MOVING_MS_MAX = 2000;

/** Effects that payments in one slot have in another, in this process or at another server. */
export class AcrossSlots {
  readonly #deps: AcrossSlotsDeps;

  constructor(deps: AcrossSlotsDeps) {
    this.#deps = deps;
  }

  /** The extensions of the slot that a workspace's id leads to. @throws interrupted while no server owns it */
  async extensionsOf(id: string): Promise<ExtensionSteps> {
    const place = await this.#settledPlaceOf(id);
    if ('services' in place) return this.#extensionsIn(place.services);
    return this.#peers.extensionsAt(place.peer);
  }

  /** Whether a payer's store has an extension that it may still commit. @throws while that is unknown */
  async knows(payer: Address, step: StepId): Promise<boolean> {
    const place = await this.#settledPlaceOf(payerTenantId(payer));
    if ('peer' in place) return this.#peers.knowsAt(place.peer, payer, step);
    const known = isKnownTo(place.services, step);
    await place.services.stable?.();
    return known;
  }

  /** Credits a wallet's store with what it is owed, once however often it is called. @throws while the store is unavailable */
  async returnTo(owed: PrepaidReturn): Promise<void> {
    const place = await this.#settledPlaceOf(payerTenantId(owed.payer));
    if ('peer' in place) return this.#peers.returnAt(place.peer, owed);
    const { gate, stable } = place.services;
    await this.#deps.lock.shared(() => gate.takeBack(owed));
    await stable?.();
  }

  /** The store in this process that an id leads to, for calls of other servers. */
  booksHere(id: string): BooksHere | undefined {
    const place = this.#deps.placeOf(id);
    if (!('services' in place)) return undefined;
    const { services } = place;
    return {
      extensions: this.#extensionsIn(services),
      knows: (step) => isKnownTo(services, step),
      takeBack: (owed) => this.#deps.lock.shared(() => services.gate.takeBack(owed)),
      stable: async () => services.stable?.(),
    };
  }

  #extensionsIn({ workspaces }: PaidServices): ExtensionSteps {
    const { lock } = this.#deps;
    const steps = extensionsIn(workspaces);
    return {
      extend: (request) => lock.shared(() => steps.extend(request)),
      commit: (ref) => lock.shared(() => steps.commit(ref)),
      reissue: (ref) => steps.reissue(ref),
      undo: (ref) => lock.shared(() => steps.undo(ref)),
    };
  }

  async #settledPlaceOf(id: string): Promise<Exclude<PaidPlace, { moving: unknown }>> {
    const { placeOf } = this.#deps;
    const place = placeOf(id);
    if (!('moving' in place)) return place;
    await Promise.race([place.moving, pause(MOVING_MS_MAX, undefined, { ref: false })]);
    const later = placeOf(id);
    if (!('moving' in later)) return later;
    throw new FarthingError(
      'interrupted',
      'The workspace moves between servers. Send the same request again.',
      {
        retryAfterS: 2,
      },
    );
  }

  get #peers(): PeerPurchases {
    if (!this.#deps.peers) throw new Error('no other server has slots');
    return this.#deps.peers;
  }
}

function isKnownTo({ purchases, gate }: PaidServices, step: string): boolean {
  const isIt = (other: string) => other === step;
  return (
    purchases.extension.isUnderWay(step as StepId) ||
    gate.openEffects().some(({ kind, ref }) => kind === 'workspace_extend' && isIt(ref.step))
  );
}
