import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import type { Store, Table } from '../state/store.ts';

interface CreditRecord {
  /** `taken`: an ingest is being accepted on it. A spent one has no record. */
  readonly state: 'open' | 'taken';
  readonly since: number;
}

/** A credit that was taken for an ingest that is about to be accepted. */
export interface Credit {
  readonly id: string;
}

/**
 * Ingests that were paid for and failed later: each is good for one further ingest of its payer. A credit is made once for a
 * job, and used once.
 */
export class Credits {
  readonly #store: Store;
  readonly #clock: Clock;
  /** payer/job → credit. */
  readonly #credits: Table<CreditRecord>;

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
    this.#credits = store.table('credits');
  }

  /** Idempotent by job while the credit is not spent: whoever owes it may give it again after a crash, before anybody can use it. */
  async newCredit(payer: Address, jobId: string): Promise<void> {
    await this.#credits.putIfAbsent(creditId(payer, jobId), { state: 'open', since: this.#clock.now() });
  }

  /** Takes an open credit of this payer, atomically; undefined when there is none. */
  async use(payer: Address): Promise<Credit | undefined> {
    // Hardly anybody has one: a look costs less than a transaction.
    if (this.#openOf(payer) === undefined) return undefined;
    return this.#store.transaction(() => {
      const id = this.#openOf(payer);
      if (id === undefined) return undefined;
      this.#credits.put(id, { state: 'taken', since: this.#clock.now() });
      return { id };
    });
  }

  /** The ingest was accepted: the credit is spent for good. */
  async spent({ id }: Credit): Promise<void> {
    await this.#credits.remove(id);
  }

  /** The ingest was not accepted after all. */
  async giveBack({ id }: Credit): Promise<void> {
    await this.#store.transaction(() => {
      if (this.#credits.get(id)?.state === 'taken')
        this.#credits.put(id, { state: 'open', since: this.#clock.now() });
    });
  }

  /** Open ones of all payers: uploads that are owed. */
  *open(): Iterable<{ readonly payer: Address; readonly since: number }> {
    for (const { key, value } of this.#credits.range())
      if (value.state === 'open')
        yield { payer: key.slice(0, key.indexOf('/')) as Address, since: value.since };
  }

  /** Ends all of them: what paid for them is no money here any more. @returns how many were open */
  async endAll(): Promise<number> {
    const all = [...this.#credits.range()];
    for (const { key } of all) await this.#credits.remove(key);
    return all.filter(({ value }) => value.state === 'open').length;
  }

  count(payer: Address): number {
    return [...this.#of(payer)].filter(({ value }) => value.state === 'open').length;
  }

  /**
   * At a start: credits that a crash left taken are open again. One whose ingest had been accepted just before pays once more: the
   * payer's gain, never its loss.
   */
  async recover(): Promise<void> {
    const taken: string[] = [];
    for (const { key, value } of this.#credits.range()) if (value.state === 'taken') taken.push(key);
    for (const id of taken) await this.giveBack({ id });
  }

  #openOf(payer: Address): string | undefined {
    for (const { key, value } of this.#of(payer)) if (value.state === 'open') return key;
    return undefined;
  }

  #of(payer: Address): Iterable<{ key: string; value: CreditRecord }> {
    return this.#credits.range({ start: `${payer}/`, end: `${payer}0` });
  }
}

function creditId(payer: Address, jobId: string): string {
  return `${payer}/${jobId}`;
}
