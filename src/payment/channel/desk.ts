import { formatUsd } from '@farthing/protocol/money';
import { settlementTooDear } from '../facilitator/too-dear.ts';
import { PaymentRefused } from '../fault.ts';
import { settlementPending } from '../gate/settlements.ts';
import type { Hex, Payment } from '../payment.ts';
import type { Answer } from '../purchase.ts';
import { isRevert } from '../self/nodes.ts';
import { TooDear } from '../self/together.ts';
import { receiptHeaders } from '../wire/receipt.ts';
import { type Channels, NOT_FOUND, OUT_OF_STEP, REASON, stateShown } from './channels.ts';
import type { Claims } from './claims.ts';
import { unavailable } from './with-channels.ts';

/** A refund is in a block within seconds; one that takes longer goes on, and is told to who asks again. */
const REFUND_MS_MAX = 30_000;

/** The channels of a gate: one sale or refund of a channel at a time, as each voucher's total counts on the one before. */
export class ChannelDesk {
  readonly channels: Channels;
  readonly #claims: Claims;
  readonly #turns = new Map<Hex, Promise<unknown>>();

  constructor(channels: Channels, claims: Claims) {
    this.channels = channels;
    this.#claims = claims;
  }

  /** Until the running sale or refund of the channel is over; undefined without one. */
  busy(id: Hex): Promise<unknown> | undefined {
    return this.#turns.get(id);
  }

  /** To be called while the channel is not busy. Nothing of it is claimed meanwhile: a sale may be undone. */
  async inTurn<T>(id: Hex, work: () => Promise<T>): Promise<T> {
    const turn = this.#claims.whileSelling(id, work);
    this.#turns.set(
      id,
      turn.catch(() => undefined),
    );
    try {
      return await turn;
    } finally {
      this.#turns.delete(id);
    }
  }

  /** What a client needs to go on with its channel; undefined for one that is not known. */
  shown(id: Hex): Readonly<Record<string, unknown>> | undefined {
    const channel = this.channels.find(id);
    if (!channel) return undefined;
    const { total, signature } = channel;
    const voucherState =
      total > 0n ? { voucherState: { signedMaxClaimable: total.toString(), signature } } : {};
    return { channelState: stateShown(id, channel), ...voucherState };
  }

  /** Pays back what a channel has left, or a part of it. @throws PaymentRefused, settlement_too_dear, settlement_pending */
  async refund(payment: Payment): Promise<Answer> {
    const { id, total, refund } = payment.voucher!;
    for (let busy = this.busy(id); busy; busy = this.busy(id)) await busy;
    const channel = this.channels.find(id);
    if (!channel) throw new PaymentRefused(NOT_FOUND);
    if (total !== channel.charged) throw new PaymentRefused(OUT_OF_STEP);
    const left = channel.balance - channel.charged;
    if (left <= 0n) throw new PaymentRefused(`${REASON}refund_no_balance`);
    if (refund === 0n) throw new PaymentRefused(`${REASON}refund_amount_invalid`);
    const amount = refund === undefined || refund > left ? left : refund;
    const refunding = this.inTurn(id, () => this.#claims.refund(id, amount)).catch((error: unknown) => {
      if (isRevert(error)) throw new PaymentRefused(`${REASON}refund_simulation_failed`);
      throw error instanceof TooDear ? settlementTooDear() : unavailable(error);
    });
    const done = await Promise.race([refunding, late()]);
    if (!done) throw new PaymentRefused(`${REASON}refund_transaction_failed`, { atSettlement: true });
    const { transaction, channel: after } = done;
    const extra = { channelState: stateShown(id, after) };
    const settled = { payer: payment.payer, amount: amount.toString(), transaction, extra };
    return {
      status: 200,
      headers: { 'Cache-Control': 'no-store', ...receiptHeaders(settled, payment.asset.network) },
      body: { refunded_usd: formatUsd(amount), transaction, charged: false },
    };
  }

  /** See `Claims.begin`. */
  begin(): void {
    this.#claims.begin();
  }

  close(): Promise<void> {
    return this.#claims.close();
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(settlementPending()), REFUND_MS_MAX).unref());
}
