import { FarthingError } from '@farthing/protocol/error';
import type { Facilitator, Settlement, Verification } from '../facilitator/facilitator.ts';
import type { Told } from '../facilitator/settler.ts';
import { settlementTooDear } from '../facilitator/too-dear.ts';
import type { Payment } from '../payment.ts';
import type { Escrow } from '../self/escrow.ts';
import { TooDear } from '../self/together.ts';
import { type Channels, NOT_FOUND } from './channels.ts';
import type { SentVoucher } from './voucher.ts';

/** How long a request waits for its deposit to be mined, and how long a look at one takes that was sent before. */
const DEPOSIT_MS_MAX = 30_000;
const LOOK_MS_MAX = 500;

export interface Books {
  readonly channels: Channels;
  readonly escrow: Escrow;
}

/** Takes vouchers from the channels of a store, makes their deposits on the chain, and asks the facilitator for all other payments. */
export function withChannels(facilitator: Facilitator, books: Books): Facilitator {
  const { channels } = books;
  return {
    ...facilitator,
    get verifiesContractWallets() {
      return facilitator.verifiesContractWallets;
    },
    verifyHere: (payment, terms) =>
      payment.voucher ? channels.verify(payment) : facilitator.verifyHere?.(payment, terms),
    verify: (payment, terms) =>
      payment.voucher ? verify(payment, payment.voucher, books) : facilitator.verify(payment, terms),
    settle: (payment, terms) =>
      payment.voucher ? settle(payment, payment.voucher, books) : facilitator.settle(payment, terms),
    reconcile: async (payment, terms) => {
      const { voucher } = payment;
      if (!voucher) return facilitator.reconcile(payment, terms);
      const spent = channels.spent(payment);
      if (spent.kind === 'settled' || !voucher.deposit) return spent;
      return settle(payment, voucher, books, LOOK_MS_MAX).catch((error: unknown) => ({
        kind: 'unknown' as const,
        detail: String(error),
      }));
    },
  };
}

/** Asks the chain. A channel that is not known here is kept once a voucher of it is good. @throws facilitator_unavailable */
async function verify(
  payment: Payment,
  voucher: SentVoucher,
  { channels, escrow }: Books,
): Promise<Verification> {
  try {
    const state = await escrow.read(voucher.id);
    const channel = channels.seen(voucher, state);
    const isKnown = channels.find(voucher.id) !== undefined;
    if (!isKnown && !voucher.deposit && state.balance === 0n) return { valid: false, reason: NOT_FOUND };
    const fault =
      channels.fault(payment, channel) ??
      (voucher.deposit ? await escrow.depositFault(payment, channel) : undefined);
    if (isKnown || (fault === undefined && !voucher.deposit)) await channels.keep(voucher, state);
    return fault === undefined ? { valid: true } : { valid: false, reason: fault };
  } catch (error) {
    throw unavailable(error);
  }
}

/**
 * A voucher was charged by its note already; a deposit is made here, and then its voucher is charged.
 * @throws facilitator_unavailable, settlement_too_dear: nothing was sent
 */
async function settle(
  payment: Payment,
  voucher: SentVoucher,
  { channels, escrow }: Books,
  deadlineMs = DEPOSIT_MS_MAX,
): Promise<Settlement> {
  const spent = channels.spent(payment);
  if (spent.kind === 'settled') return spent;
  if (!voucher.deposit) return { kind: 'refused', reason: NOT_FOUND };
  let told: Told;
  try {
    const channel = channels.seen(voucher, await escrow.read(voucher.id));
    told = await escrow.deposit(payment, channel, deadlineMs);
  } catch (error) {
    throw error instanceof TooDear ? settlementTooDear() : unavailable(error);
  }
  if (told.kind === 'refused' || told.kind === 'unknown') return told;
  if (told.kind !== 'settled') return { kind: 'unknown', detail: told.detail };
  try {
    const state = await escrow.read(voucher.id);
    // The chain's word on the money counts, whatever used the authorization.
    if (state.balance < voucher.total) return { kind: 'refused', reason: 'insufficient_funds' };
    return await channels.deposited(payment, state, told);
  } catch (error) {
    return { kind: 'unknown', detail: String(error) };
  }
}

/** Nothing was sent. */
export function unavailable(cause: unknown): FarthingError {
  const detail =
    'The chain cannot be asked about the channel right now. Nothing was charged; try again later.';
  return new FarthingError('facilitator_unavailable', detail, { retryAfterS: 10, cause });
}
