import type { Clock } from '../../domain/clock.ts';
import type { Address, Effect, PaymentTiming } from '../../domain/payment.ts';
import type { Store, Table } from '../../state/store.ts';
import type { Asset } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';
import { Journal, type JournalKind } from './journal.ts';

/**
 * reserved → settling → settled, or gone again when nothing was charged. `settling` says that the settlement may have
 * been sent: after a crash its outcome must be asked for. `undoing`: certainly not charged, but the effect would not go yet.
 */
export type PaymentState = 'reserved' | 'settling' | 'settled' | 'undoing';

/** The one durable record of a payment. JobsAwaitingPayment no content: the answer lies in the Tenant's folder. */
export interface PaymentRecord {
  readonly state: PaymentState;
  readonly payment: Payment;
  readonly terms: Terms;
  readonly route: string;
  readonly requestHash: string;
  readonly keyHash?: string;
  /** A pending entry stands in the journal. */
  readonly pending?: boolean;
  readonly effect?: Effect;
  /** The effect's commit came through. */
  readonly committed?: boolean;
  readonly transaction?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly presumed?: boolean;
  /** Of an `undoing`: why the settlement was refused, for the books. */
  readonly refusal?: string;
  readonly timing?: PaymentTiming;
  readonly delivered?: boolean;
  /** Milliseconds since the epoch: the record and its answer are kept until then. */
  readonly keepUntil?: number;
}

interface RequestKeyBinding {
  readonly payment: string;
  readonly requestHash: string;
}

/** Records outlive their authorization by this much, so that clocks that differ can't make one usable twice. */
const VALIDITY_MARGIN_MS = 60_000;
const SWEEP_RECORDS_MAX = 1000;

/** The durable side of the payment gate. Every change is one atomic transaction that is on the disk when its promise resolves. */
export class PaymentRecords {
  readonly journal: Journal;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #asset: Asset;
  readonly #keepMs: number;
  readonly #payments: Table<PaymentRecord>;
  /** Keys of payments that a start has to look at. */
  readonly #open: Table<1>;
  /** payer/request → payment: settled, and its answer not delivered. */
  readonly #undelivered: Table<string>;
  readonly #requestKeys: Table<RequestKeyBinding>;
  /** keepUntil/payment → hash of the idempotency key, if it had one. */
  readonly #expiry: Table<readonly string[]>;

  constructor(parts: { store: Store; clock: Clock; asset: Asset; answerKeepMinutes: number }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#asset = parts.asset;
    this.#keepMs = parts.answerKeepMinutes * 60_000;
    this.journal = new Journal(parts.store);
    this.#payments = parts.store.table('payments');
    this.#open = parts.store.table('payments_open');
    this.#undelivered = parts.store.table('payments_undelivered');
    this.#requestKeys = parts.store.table('payments_request_keys');
    this.#expiry = parts.store.table('payments_expiry');
  }

  /** Identity of a payment: network, asset, payer and nonce, whatever its encoding. */
  keyOf({ payer, nonce }: Payment): string {
    return `${this.#asset.network}/${this.#asset.address}/${payer}/${nonce}`;
  }

  find(key: string): PaymentRecord | undefined {
    return this.#payments.get(key);
  }

  /** The settled payment that an idempotency key of a request belongs to. */
  findByRequestKey(keyHash: string): RequestKeyBinding | undefined {
    return this.#requestKeys.get(keyHash);
  }

  /** The settled payment of this payer for this request whose answer never went out. */
  findUndelivered(payer: Address, requestHash: string): string | undefined {
    return this.#undelivered.get(requestOf(payer, requestHash));
  }

  /** Atomic put-if-absent. */
  reserve(key: string, record: PaymentRecord): Promise<boolean> {
    return this.#store.transaction(() => {
      if (this.#payments.get(key)) return false;
      this.#payments.put(key, record);
      this.#open.put(key, 1);
      return true;
    });
  }

  /** To be on the disk before a settlement is sent that could not be recalled after a crash. */
  async settling(key: string, record: PaymentRecord): Promise<PaymentRecord> {
    const settling: PaymentRecord = { ...record, state: 'settling' };
    await this.#payments.put(key, settling);
    return settling;
  }

  /** Certainly not charged, and the effect still has to go. `record` is in that state. */
  async undoing(key: string, record: PaymentRecord): Promise<void> {
    await this.#payments.put(key, record);
  }

  /** The outcome of a settlement is not known: the books say so. */
  pending(key: string, record: PaymentRecord): Promise<PaymentRecord> {
    return this.#store.transaction(() => {
      if (record.pending) return record;
      const pending: PaymentRecord = { ...record, state: 'settling', pending: true };
      this.#payments.put(key, pending);
      this.#journal('pending', record);
      return pending;
    });
  }

  /** The record of a settled payment, as `settled` will write it. */
  asSettled(
    record: PaymentRecord,
    outcome: Pick<PaymentRecord, 'transaction' | 'extra' | 'presumed' | 'timing'>,
  ): PaymentRecord {
    const keepUntil = Math.max(
      this.#clock.now() + this.#keepMs,
      Number(record.payment.validBefore) * 1000 + VALIDITY_MARGIN_MS,
    );
    return { ...record, ...outcome, state: 'settled', keepUntil };
  }

  /** Charged: from now on the answer belongs to the payer. `record` comes from `asSettled`. */
  async settled(key: string, record: PaymentRecord): Promise<void> {
    await this.#store.transaction(() => {
      this.#payments.put(key, { ...record, pending: undefined });
      if (!record.effect || record.committed) this.#open.remove(key);
      this.#undelivered.put(requestOf(record.payment.payer, record.requestHash), key);
      if (record.keyHash !== undefined) this.#bind(record.keyHash, key, record.requestHash);
      this.#expiry.put(
        expiryKey(record.keepUntil ?? 0, key),
        record.keyHash === undefined ? [] : [record.keyHash],
      );
      this.#journal(record.presumed ? 'presumed' : 'settled', record, { resolves: record.pending === true });
    });
  }

  /** The effect of a settled payment stands; nothing is left to do at a start. */
  async committed(key: string): Promise<void> {
    await this.#change(key, (record) => {
      this.#open.remove(key);
      return { ...record, committed: true };
    });
  }

  /** The answer was handed to the network: the matter is ended, and the same request again is a new purchase. */
  async delivered(key: string): Promise<void> {
    await this.#change(key, (record) => {
      const request = requestOf(record.payment.payer, record.requestHash);
      if (this.#undelivered.get(request) === key) this.#undelivered.remove(request);
      return record.delivered || record.state !== 'settled' ? undefined : { ...record, delivered: true };
    });
  }

  /** A further idempotency key under which the same payer may have the answer again. */
  async bindRequestKey(keyHash: string, key: string, requestHash: string): Promise<void> {
    await this.#change(key, (record) => {
      const expiry = expiryKey(record.keepUntil ?? 0, key);
      this.#expiry.put(expiry, [...(this.#expiry.get(expiry) ?? []), keyHash]);
      this.#bind(keyHash, key, requestHash);
      return undefined;
    });
  }

  /** Nothing was charged: the authorization is free again. `refusal` is written into the books. */
  async free(key: string, refusal?: { record: PaymentRecord; reason: string }): Promise<void> {
    await this.#store.transaction(() => {
      this.#payments.remove(key);
      this.#open.remove(key);
      if (refusal)
        this.#journal('refused', refusal.record, {
          reason: refusal.reason,
          resolves: refusal.record.pending === true,
        });
    });
  }

  /** Payments that are neither settled and done nor gone. */
  open(): { key: string; record: PaymentRecord }[] {
    const found: { key: string; record: PaymentRecord }[] = [];
    for (const { key } of this.#open.range()) {
      const record = this.#payments.get(key);
      if (record) found.push({ key, record });
    }
    return found;
  }

  /** Forgets records whose time is over, a thousand at a time. `forgotten`: whose answers can go; `more`: there may be further ones. */
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
    const record = this.#payments.get(key);
    this.#expiry.remove(expiry);
    if (record && this.#open.get(key)) {
      // Its effect is not committed yet: whoever paid may still ask for it.
      const keepUntil = this.#clock.now() + this.#keepMs;
      this.#payments.put(key, { ...record, keepUntil });
      this.#expiry.put(expiryKey(keepUntil, key), keyHashes);
      return [];
    }
    for (const keyHash of keyHashes) {
      if (this.#requestKeys.get(keyHash)?.payment === key) this.#requestKeys.remove(keyHash);
    }
    if (!record) return [];
    const request = requestOf(record.payment.payer, record.requestHash);
    if (this.#undelivered.get(request) === key) this.#undelivered.remove(request);
    this.#payments.remove(key);
    return [{ key, payer: record.payment.payer }];
  }

  #change(key: string, change: (record: PaymentRecord) => PaymentRecord | undefined): Promise<void> {
    return this.#store.transaction(() => {
      const record = this.#payments.get(key);
      const changed = record && change(record);
      if (changed) this.#payments.put(key, changed);
    });
  }

  #bind(keyHash: string, payment: string, requestHash: string): void {
    this.#requestKeys.put(keyHash, { payment, requestHash });
  }

  #journal(
    kind: JournalKind,
    record: PaymentRecord,
    { reason, resolves }: { reason?: string; resolves?: boolean } = {},
  ): void {
    const { payment, terms, route, requestHash, transaction } = record;
    this.journal.append(
      {
        kind,
        time: this.#clock.now(),
        network: this.#asset.network,
        asset: this.#asset.address,
        payer: payment.payer,
        payTo: payment.payTo,
        nonce: payment.nonce,
        amount: terms.amount.toString(),
        route,
        requestHash,
        transaction,
        reason,
      },
      { resolves },
    );
  }
}

export function requestOf(payer: Address, requestHash: string): string {
  return `${payer}/${requestHash}`;
}

function expiryKey(milliseconds: number, key: string): string {
  return `${Math.floor(milliseconds).toString().padStart(15, '0')}/${key}`;
}
