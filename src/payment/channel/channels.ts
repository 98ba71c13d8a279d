import type { Clock } from '@farthing/protocol/clock';
import type { SettledBy, Settlement, Verification } from '../facilitator/facilitator.ts';
import type { Hex, Payment } from '../payment.ts';
import { Journal, type JournalEntry } from '../records/journal.ts';
import { larger } from '../self/fees.ts';
import type { Store, Table } from '../store.ts';
import type { ChannelConfig, SentVoucher } from './voucher.ts';

/** Begin of the reasons for which `@x402/evm` refuses payments of this scheme; its clients know some of them. */
export const REASON = 'invalid_batch_settlement_evm_';
/** The client's idea of what was charged is another: it corrects itself from `channelState` and `voucherState`, and signs anew. */
export const OUT_OF_STEP = `${REASON}cumulative_amount_mismatch`;
/** Its money is on its way back to its payer. */
export const BUSY = `${REASON}channel_busy`;
export const NOT_FOUND = `${REASON}channel_not_found`;
const EXCEEDED = `${REASON}cumulative_exceeds_balance`;
const LEAVING = `${REASON}withdrawal_pending`;

/** A channel as the chain has it. Amounts are units of the coin. */
export interface ChannelState {
  readonly balance: bigint;
  readonly claimed: bigint;
  /** Seconds since the epoch at which its payer announced a withdrawal; 0 without one. */
  readonly withdrawAt: number;
  readonly refundNonce: bigint;
}

/** A channel that its payer has put money into. */
export interface Channel extends ChannelState {
  readonly config: ChannelConfig;
  /** Of the highest voucher. */
  readonly total: bigint;
  readonly signature: Hex;
  /** Sold for, from the channel's beginning. */
  readonly charged: bigint;
  /** Milliseconds since the epoch at which the chain was asked. */
  readonly readAt: number;
  /** The same at which the first of what is not claimed yet was charged; 0 without any. */
  readonly owedSince: number;
  /** What deposits and refunds have cost this server in gas. */
  readonly gas: bigint;
}

/** One transaction of the receiver's side: claims, and a refund that needs one of them first. */
export interface Operation {
  readonly id: Hex;
  /** `charged`: to be claimed, `claimed`: before, both from the channel's beginning. */
  readonly claims: readonly { readonly id: Hex; readonly charged: bigint; readonly claimed: bigint }[];
  readonly refund?: { readonly id: Hex; readonly amount: bigint; readonly nonce: bigint };
}

/** How long the chain's word on a channel holds; far shorter than any withdrawal takes. */
export const FRESH_MS = 3_600_000;

/** The channels of one store. Each change is one durable transaction. What is charged only grows, unless a sale is undone. */
export class Channels {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #channels: Table<Channel>;
  /** Channels with charges that are not claimed. */
  readonly #owed: Table<1>;
  readonly #operations: Table<Operation>;

  constructor({
    store,
    clock,
    journal = new Journal(store),
  }: { store: Store; clock: Clock; journal?: Journal }) {
    this.#store = store;
    this.#clock = clock;
    this.#journal = journal;
    this.#channels = store.table('channels');
    this.#owed = store.table('channels_owed');
    this.#operations = store.table('channels_operation');
  }

  find(id: Hex): Channel | undefined {
    return this.#channels.get(id);
  }

  /** A payment's verdict where the chain need not be asked for it. */
  verify(payment: Payment): Verification | undefined {
    const { id, deposit } = payment.voucher!;
    const channel = this.find(id);
    if (!channel) return undefined;
    const fault = this.fault(payment, channel);
    if (fault === OUT_OF_STEP || fault === BUSY) return { valid: false, reason: fault };
    const isFresh = this.#clock.now() - channel.readAt < FRESH_MS;
    return fault === undefined && isFresh && !deposit ? { valid: true } : undefined;
  }

  /** Why a payment cannot be taken from a channel; a deposit that comes with it counts. */
  fault({ value, voucher }: Payment, channel: Channel): string | undefined {
    const { id, total, deposit } = voucher!;
    if (this.operation()?.refund?.id === id) return BUSY;
    if (total !== channel.charged + value) return OUT_OF_STEP;
    if (channel.withdrawAt > 0) return LEAVING;
    return total > channel.balance + (deposit?.amount ?? 0n) ? EXCEEDED : undefined;
  }

  /** A channel as it is known here, with what the chain says of it now; one that is not known begins at what is claimed. */
  seen({ config, id }: SentVoucher, state: ChannelState): Channel {
    const known = this.find(id) ?? {
      config,
      total: 0n,
      signature: '0x',
      charged: 0n,
      claimed: 0n,
      owedSince: 0,
      gas: 0n,
    };
    // A block that is replaced takes no claim back: its transaction is sent again.
    const claimed = larger(known.claimed, state.claimed);
    const charged = larger(known.charged, claimed);
    return { ...known, ...state, claimed, charged, readAt: this.#clock.now() };
  }

  /** Writes what the chain says. */
  async keep(voucher: SentVoucher, state: ChannelState): Promise<void> {
    await this.#store.transaction(() => this.#put(voucher.id, this.seen(voucher, state)));
  }

  /** Charges a voucher, as a part of a transaction of the store. */
  take(payment: Payment): Settlement {
    const { id } = payment.voucher!;
    const channel = this.find(id);
    const reason = channel ? this.fault(payment, channel) : NOT_FOUND;
    if (!channel || reason !== undefined) return { kind: 'refused', reason: reason ?? NOT_FOUND };
    return this.#charge(payment, channel);
  }

  /** Nothing was bought after all: undoes `take`, as a part of a transaction of the store. */
  giveBack({ value, voucher }: Payment): void {
    const { id, total } = voucher!;
    const channel = this.find(id);
    if (channel?.charged === total) this.#put(id, { ...channel, charged: total - value });
  }

  /** Whether a payment that was noted before is charged. */
  spent(payment: Payment): Settlement | { readonly kind: 'absent' } {
    const { id, total } = payment.voucher!;
    const channel = this.find(id);
    return channel && channel.charged >= total ? settledFrom(payment, channel) : { kind: 'absent' };
  }

  /** The deposit is in a block: it is there, and its voucher is charged. Idempotent. */
  deposited(
    payment: Payment,
    state: ChannelState,
    { transaction, by }: { readonly transaction: string; readonly by?: SettledBy },
  ): Promise<Settlement> {
    return this.#store.transaction(() => {
      const channel = this.seen(payment.voucher!, state);
      if (channel.charged >= payment.voucher!.total)
        return { ...settledFrom(payment, channel), transaction, by };
      const gas = channel.gas + BigInt(by?.gasUnits ?? 0);
      return { ...this.#charge(payment, { ...channel, gas }), transaction, by };
    });
  }

  /** Channels with something to claim, and their ids. */
  *owed(): Iterable<{ readonly id: Hex; readonly channel: Channel }> {
    for (const { key } of [...this.#owed.range()]) yield { id: key as Hex, channel: this.find(key as Hex)! };
  }

  /** What is on its way to the chain. */
  operation(): Operation | undefined {
    return this.#operations.get('now');
  }

  /** To be written before it is sent. */
  async begin(operation: Operation): Promise<void> {
    await this.#operations.put('now', operation);
  }

  /** It is over: `states` are of its channels. @param claimed the ledger's row of what came in */
  async end(states: ReadonlyMap<Hex, ChannelState>, claimed?: JournalEntry, gasOf?: Hex): Promise<void> {
    await this.#store.transaction(() => {
      this.#operations.remove('now');
      for (const [id, state] of states) {
        const { config } = this.find(id)!;
        const channel = this.seen({ kind: 'voucher', config, id, total: 0n }, state);
        const gas = channel.gas + (id === gasOf ? BigInt(claimed?.gasUnits ?? 0) : 0n);
        this.#put(id, { ...channel, gas });
      }
      if (claimed) this.#journal.append(claimed);
    });
  }

  #charge(payment: Payment, channel: Channel): Settlement {
    const { id, total } = payment.voucher!;
    const owedSince = channel.owedSince || this.#clock.now();
    const charged = { ...channel, charged: total, total, signature: payment.signature, owedSince };
    this.#put(id, charged);
    return settledFrom(payment, charged);
  }

  /** One from which everything is claimed and refunded is forgotten: the chain knows as much. */
  #put(id: Hex, channel: Channel): void {
    const isOwed = channel.charged > channel.claimed;
    if (!isOwed && channel.balance === channel.claimed && channel.balance > 0n) this.#channels.remove(id);
    else this.#channels.put(id, isOwed ? channel : { ...channel, owedSince: 0 });
    if (isOwed) this.#owed.put(id, 1);
    else this.#owed.remove(id);
  }
}

/** What clients of the scheme read of a channel. */
export function stateShown(id: Hex, { balance, claimed, withdrawAt, refundNonce, charged }: Channel) {
  return {
    channelId: id,
    balance: balance.toString(),
    totalClaimed: claimed.toString(),
    withdrawRequestedAt: withdrawAt,
    refundNonce: refundNonce.toString(),
    chargedCumulativeAmount: charged.toString(),
  };
}

/** A voucher's sale has no transaction. */
function settledFrom(
  { value, voucher }: Payment,
  channel: Channel,
): Extract<Settlement, { kind: 'settled' }> {
  const { id, total } = voucher!;
  const extra = {
    chargedAmount: value.toString(),
    channelState: stateShown(id, { ...channel, charged: total }),
  };
  return { kind: 'settled', transaction: '', extra };
}
