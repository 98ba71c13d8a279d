import { hash } from 'node:crypto';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import type { Asset } from '../asset.ts';
import type { Settlement } from '../facilitator/facilitator.ts';
import { assetOfKey, type Payment, type Terms } from '../payment.ts';
import type { PrepaidBalances, PrepaidReturn } from '../prepaid/balances.ts';
import type { Store, Table } from '../store.ts';
import { Journal, type JournalKind } from './journal.ts';
import {
  asCommitted,
  type Chargeable,
  type Charged,
  type ChargedRecord,
  type Delivered,
  isBookedAsPending,
  isCharged,
  isOpen,
  NO_RECORD,
  type PaymentRecord,
  type Pending,
  paymentMayPass,
  type Reserved,
  type Settled,
  type Settling,
  type Undoing,
} from './payment-record.ts';
import { NO_TIMING, readPayment, type StoredPayment, storedPayment } from './stored-payment.ts';

/** Money of the same store, which a payment takes by the note of its settlement. */
export interface Purse {
  /** As a part of a transaction of the store. */
  take(payment: Payment, terms: Terms): Settlement;
  /** Undoes `take`, likewise. */
  giveBack(payment: Payment): void;
}

/** There was not enough prepaid money, or the voucher was no good: nothing was written. */
export interface NotTaken {
  readonly state: 'not taken';
  readonly reason: string;
}

interface RequestKeyBinding {
  readonly payment: string;
  readonly requestHash: string;
}

/** Outcome of a settlement that counts. */
export type SettledOutcome = Pick<Charged, 'transaction' | 'extra' | 'by'> &
  Partial<Pick<Charged, 'presumed'>>;

/** Records outlive their authorization by this much, so that clocks that differ can't make one usable twice. */
const VALIDITY_MARGIN_MS = 60_000;
const SWEEP_RECORDS_MAX = 1000;

/** The durable side of the payment gate. Every change is one atomic transaction that is on the disk when its promise resolves. */
export class PaymentRecords {
  readonly journal: Journal;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #assets: readonly Asset[];
  readonly #keepMs: number;
  readonly #prepaid: PrepaidBalances;
  readonly #channels: Purse | undefined;
  readonly #payments: Table<StoredPayment>;
  /** Keys of payments that a start has to look at. */
  readonly #open: Table<1>;
  /** payer/request → payment: charged, and its answer not delivered. */
  readonly #undelivered: Table<string>;
  readonly #requestKeys: Table<RequestKeyBinding>;
  /** keepUntil/payment → hashes of the idempotency keys that open its answer. */
  readonly #expiry: Table<readonly string[]>;

  constructor(deps: {
    store: Store;
    clock: Clock;
    assets: readonly Asset[];
    answerKeepMinutes: number;
    /** Balances of the same store. */
    prepaid: PrepaidBalances;
    /** Channels of the same store. Absent: there are none. */
    channels?: Purse | undefined;
  }) {
    const { store, clock, assets, answerKeepMinutes, prepaid } = deps;
    this.#prepaid = prepaid;
    this.#channels = deps.channels;
    this.#store = store;
    this.#clock = clock;
    this.#assets = assets;
    this.#keepMs = answerKeepMinutes * 60_000;
    this.journal = new Journal(store);
    this.#payments = store.table('payments');
    this.#open = store.table('payments_open');
    this.#undelivered = store.table('payments_undelivered');
    this.#requestKeys = store.table('payments_request_keys');
    this.#expiry = store.table('payments_expiry');
  }

  find(key: string): PaymentRecord | undefined {
    const stored = this.#payments.get(key);
    return stored && readPayment(stored, assetOfKey(key, this.#assets));
  }

  findCharged(key: string): ChargedRecord | undefined {
    const record = this.find(key);
    return record && isCharged(record) ? record : undefined;
  }

  /** The charged payment that an idempotency key of a request belongs to. */
  findByRequestKey(keyHash: string): RequestKeyBinding | undefined {
    return this.#requestKeys.get(keyHash);
  }

  /** The charged payment of this payer for this request whose answer never went out. */
  findUndelivered(payer: Address, requestHash: string): string | undefined {
    return this.#undelivered.get(requestOf(payer, requestHash));
  }

  /** Whether a charged answer of this payer never went out. */
  owesAnswer(payer: Address): boolean {
    const start = requestOf(payer, '');
    for (const { key } of this.#undelivered.range({ start, limit: 1 })) return key.startsWith(start);
    return false;
  }

  /** Atomic put-if-absent. */
  reserve(key: string, record: Reserved): Promise<boolean> {
    return this.#store.transaction(() => {
      const from = this.find(key);
      if (from) return false;
      this.#pass(key, from, record);
      this.#open.put(key, 1);
      return true;
    });
  }

  /**
   * To be on the disk before a settlement is sent whose outcome could not be asked for after a crash. Undefined where the payment has
   * come further already. Prepaid money, and a voucher's, is taken by the same write.
   */
  settling(key: string, record: Reserved): Promise<Settling | NotTaken | undefined> {
    const settling: Settling = { ...record, state: 'settling' };
    return this.#store.transaction(() => {
      const from = this.find(key);
      if (from && from.state !== 'reserved') return undefined;
      const taken = this.#purseOf(record.payment)?.take(record.payment, record.terms);
      if (taken?.kind === 'refused') return { state: 'not taken', reason: taken.reason };
      this.#pass(key, from, settling);
      this.#open.put(key, 1);
      return settling;
    });
  }

  /** Certainly not charged, and the effect still has to go. */
  async undoing(key: string, record: Undoing): Promise<void> {
    await this.#pass(key, this.find(key), record);
  }

  /** Records a settlement of unknown outcome, also in the ledger. */
  pending(key: string, record: Reserved | Settling): Promise<Pending> {
    const pending: Pending = { ...record, state: 'pending' };
    return this.#store.transaction(() => {
      this.#pass(key, this.find(key), pending);
      this.#journal('pending', record);
      return pending;
    });
  }

  /** The record of a settled payment, as `settled` will write it. */
  asSettled(record: Chargeable, { transaction, extra, by, presumed = false }: SettledOutcome): Settled {
    const keepUntil = Math.max(
      this.#clock.now() + this.#keepMs,
      Number(record.payment.validBefore) * 1000 + VALIDITY_MARGIN_MS,
    );
    const { timing = NO_TIMING } = record;
    return { ...record, state: 'settled', transaction, extra, by, presumed, timing, keepUntil };
  }

  /** Charged: from now on the answer belongs to the payer, unless it was handed to the network already. */
  async settled(key: string, record: Settled | Delivered): Promise<void> {
    await this.#store.transaction(() => {
      const from = this.find(key);
      const resolves = from !== undefined && isBookedAsPending(from);
      this.#pass(key, from, record);
      if (!isOpen(record)) this.#open.remove(key);
      if (record.state === 'settled')
        this.#undelivered.put(requestOf(record.payment.payer, record.requestHash), key);
      if (record.keyHash !== undefined) this.#bind(record.keyHash, key, record.requestHash);
      this.#expiry.put(
        expiryKey(record.keepUntil, key),
        record.keyHash === undefined ? [] : [record.keyHash],
      );
      const { isPrepaid, isEscrow } = record.payment.asset;
      const kind = isPrepaid ? 'prepaid' : isEscrow ? 'voucher' : 'settled';
      this.#journal(record.presumed ? 'presumed' : kind, record, { resolves });
    });
  }

  /** Returns prepaid money to its wallet. Idempotent. @param asset as the ledger names it */
  async takeBack(owed: PrepaidReturn, asset: Asset, payTo: Address): Promise<void> {
    await this.#store.transaction(() => {
      if (!this.#prepaid.takeBack(owed) || owed.money !== this.#prepaid.money) return;
      // The ledger must not link a workspace's id to a wallet.
      const digest = hash('sha256', owed.step);
      this.journal.append({
        kind: 'returned',
        time: this.#clock.now(),
        network: asset.network,
        asset: asset.address,
        payer: owed.payer,
        payTo,
        nonce: `0x${digest}`,
        amount: owed.amount.toString(),
        route: 'DELETE /agent/v1/workspaces/:id/reserve',
        requestHash: digest,
      });
    });
  }

  /** The effect of a settled payment stands; nothing is left to do at a start. */
  async committed(key: string): Promise<void> {
    await this.#store.transaction(() => {
      const record = this.findCharged(key);
      if (record?.effect && record.state === 'settled')
        this.#pass(key, record, asCommitted(record, record.effect));
      this.#open.remove(key);
    });
  }

  /** The answer was handed to the network: the matter is ended, and the same request again is a new purchase. */
  async delivered(key: string): Promise<void> {
    await this.#store.transaction(() => {
      const record = this.findCharged(key);
      if (!record) return;
      const request = requestOf(record.payment.payer, record.requestHash);
      if (this.#undelivered.get(request) === key) this.#undelivered.remove(request);
      if (record.state !== 'delivered' && !isOpen(record))
        this.#pass(key, record, { ...record, state: 'delivered' });
    });
  }

  /** A further idempotency key under which the same payer may have the answer again. */
  async bindRequestKey(keyHash: string, key: string, requestHash: string): Promise<void> {
    await this.#store.transaction(() => {
      const record = this.findCharged(key);
      if (!record) return;
      const expiry = expiryKey(record.keepUntil, key);
      this.#expiry.put(expiry, [...(this.#expiry.get(expiry) ?? []), keyHash]);
      this.#bind(keyHash, key, requestHash);
    });
  }

  /** Nothing was charged: the authorization is free again. The refusal of a settlement is written to the ledger. */
  async free(key: string, refusal?: { record: PaymentRecord; reason: string }): Promise<void> {
    await this.#store.transaction(() => {
      const from = this.find(key);
      const resolves = from !== undefined && isBookedAsPending(from);
      if (from) this.#purseOf(from.payment)?.giveBack(from.payment);
      this.#pass(key, from, undefined);
      this.#open.remove(key);
      if (refusal) this.#journal('refused', refusal.record, { reason: refusal.reason, resolves });
    });
  }

  /** Payments that are neither finished nor gone. */
  open(): { key: string; record: PaymentRecord }[] {
    const found: { key: string; record: PaymentRecord }[] = [];
    for (const { key } of this.#open.range()) {
      const record = this.find(key);
      if (record) found.push({ key, record });
    }
    return found;
  }

  /** Deletes expired records, a thousand at a time. `forgotten`: their answers can be deleted; `more`: others may have expired. */
  async sweep(): Promise<{ forgotten: { key: string; payer: Address }[]; more: boolean }> {
    const end = expiryKey(this.#clock.now(), '');
    const due = [...this.#expiry.range({ end, limit: SWEEP_RECORDS_MAX })];
    if (due.length === 0) return { forgotten: [], more: false };
    const forgotten = await this.#store.transaction(() =>
      due.flatMap(({ key, value }) => this.#forget(key, value)),
    );
    return { forgotten, more: due.length === SWEEP_RECORDS_MAX };
  }

  #forget(expiry: string, keyHashes: readonly string[]): { key: string; payer: Address }[] {
    const key = expiry.slice(expiry.indexOf('/') + 1);
    const record = this.findCharged(key);
    this.#expiry.remove(expiry);
    if (record && isOpen(record)) {
      // Its effect is not committed yet, and its payer may still ask for it.
      const keepUntil = this.#clock.now() + this.#keepMs;
      this.#pass(key, record, { ...record, keepUntil });
      this.#expiry.put(expiryKey(keepUntil, key), keyHashes);
      return [];
    }
    for (const keyHash of keyHashes) {
      if (this.#requestKeys.get(keyHash)?.payment === key) this.#requestKeys.remove(keyHash);
    }
    if (!record) return [];
    const request = requestOf(record.payment.payer, record.requestHash);
    if (this.#undelivered.get(request) === key) this.#undelivered.remove(request);
    this.#pass(key, record, undefined);
    return [{ key, payer: record.payment.payer }];
  }

  /** The only method that changes a payment's state. @param from as it stands @throws Error for an invalid change */
  #pass(key: string, from: PaymentRecord | undefined, to: PaymentRecord | undefined): Promise<void> {
    const last = from?.state ?? NO_RECORD;
    const next = to?.state ?? NO_RECORD;
    if (!paymentMayPass(last, next)) throw new Error(`a payment does not pass from ${last} to ${next}`);
    return to ? this.#payments.put(key, storedPayment(to)) : this.#payments.remove(key);
  }

  /** A deposit is made on the chain first. */
  #purseOf({ asset, voucher }: Payment): Purse | undefined {
    if (asset.isPrepaid) return this.#prepaid;
    return voucher && !voucher.deposit ? this.#channels : undefined;
  }

  #bind(keyHash: string, payment: string, requestHash: string): void {
    this.#requestKeys.put(keyHash, { payment, requestHash });
  }

  #journal(
    kind: JournalKind,
    record: PaymentRecord,
    { reason, resolves }: { reason?: string; resolves?: boolean } = {},
  ): void {
    const { payment, terms, route, requestHash } = record;
    this.journal.append(
      {
        kind,
        time: this.#clock.now(),
        network: payment.asset.network,
        asset: payment.asset.address,
        payer: payment.payer,
        payTo: payment.payTo,
        nonce: payment.nonce,
        amount: terms.amount.toString(),
        route,
        requestHash,
        transaction: isCharged(record) ? record.transaction : undefined,
        reason,
        ...record.by,
      },
      { resolves },
    );
  }
}

function requestOf(payer: Address, requestHash: string): string {
  return `${payer}/${requestHash}`;
}

function expiryKey(milliseconds: number, key: string): string {
  return `${Math.floor(milliseconds).toString().padStart(15, '0')}/${key}`;
}
