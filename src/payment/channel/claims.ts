import { randomBytes } from 'node:crypto';
import type { Clock } from '@farthing/protocol/clock';
import { formatUsd } from '@farthing/protocol/money';
import type { Asset } from '../asset.ts';
import type { SettledBy } from '../facilitator/facilitator.ts';
import type { Hex } from '../payment.ts';
import type { JournalEntry } from '../records/journal.ts';
import type { Escrow } from '../self/escrow.ts';
import { smaller } from '../self/fees.ts';
import { isRevert } from '../self/nodes.ts';
import type { Outcome } from '../self/outcome.ts';
import { type Channel, type ChannelState, type Channels, FRESH_MS, type Operation } from './channels.ts';

export interface ClaimsDeps {
  readonly channels: Channels;
  readonly escrow: Escrow;
  /** The coin, as it comes out of the escrow. */
  readonly asset: Asset;
  readonly clock: Clock;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** Channels of one transaction: some 35,000 units of gas each. */
const TOGETHER_MAX = 50;
/** What is charged is claimed once it is so much (a dollar), or so old: far sooner than a payer can take it away. */
const DUE_UNITS = 1_000_000n;
const DUE_MS = 6 * 3_600_000;
/** Claims that can wait take this part of the gas that old ones may take. */
const EARLY_PART = 10n;
const LOOK_MS = 60_000;

/**
 * Brings what one store's channels have sold into the payee's wallet. One operation at a time; it is written down before it is sent, and a
 * start takes it up: what the contract has seen before has no effect a second time.
 */
export class Claims {
  readonly #deps: ClaimsDeps;
  /** Channels with a sale that may still be undone. */
  readonly #selling = new Set<Hex>();
  /** Channels that cannot be claimed from, and are told of. */
  readonly #reported = new Set<Hex>();
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /** Takes up what an earlier process began, and looks for what is due from now on. To be called once no sale of that process can be undone. */
  begin(): void {
    this.#timer = setInterval(() => void this.claim(), LOOK_MS).unref();
    void this.claim();
  }

  /** Nothing of this channel is claimed by others while a sale or a refund of it runs. */
  async whileSelling<T>(id: Hex, sale: () => Promise<T>): Promise<T> {
    this.#selling.add(id);
    try {
      return await sale();
    } finally {
      this.#selling.delete(id);
    }
  }

  /** Claims what is due, or `all`. Resolves once it is sent and its outcome is booked. Never throws. */
  claim({ all = false } = {}): Promise<void> {
    return this.#inTurn(() => this.#claim(all)).catch((error: unknown) => this.#note(error));
  }

  #note(error: unknown): void {
    this.#deps.log({ level: 'warn', event: 'claim_not_sent', error: String(error) });
  }

  /**
   * Pays what is left of a channel back to its payer, and claims what was charged before. Its gas, and what the channel has cost so far, may
   * not be more than was sold. @returns undefined where nothing was moved @throws TooDear, RpcRefusal, Error: nothing was sent
   */
  refund(
    id: Hex,
    amount: bigint,
  ): Promise<{ readonly transaction: string; readonly channel: Channel } | undefined> {
    return this.#inTurn(async () => {
      const { channels, escrow } = this.#deps;
      const channel = channels.seen(
        { kind: 'refund', id, total: 0n, config: channels.find(id)!.config },
        await escrow.read(id),
      );
      const { charged, claimed } = channel;
      const claims = charged > claimed ? [{ id, charged, claimed }] : [];
      const refund = { id, amount, nonce: channel.refundNonce };
      const gasMax = charged > channel.gas ? charged - channel.gas : 0n;
      const done = await this.#run({ id: newId(), claims, refund }, gasMax, charged);
      if (done?.outcome.kind !== 'settled') return undefined;
      return { transaction: done.outcome.transaction, channel: { ...channel, ...done.states.get(id)! } };
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    // Sent now, booked by this process or the next.
    await Promise.race([this.claim({ all: true }), new Promise((resolve) => setTimeout(resolve, 2000))]);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      const begun = this.#deps.channels.operation();
      if (begun) await this.#finish(begun);
      return work();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #claim(all: boolean): Promise<void> {
    const { channels, escrow, clock } = this.#deps;
    await escrow.connect();
    const now = clock.now();
    const old = [...channels.owed()]
      .filter(({ channel }) => now - channel.readAt >= FRESH_MS || channel.withdrawAt > 0)
      .sort((a, b) => a.channel.readAt - b.channel.readAt);
    for (const { id, channel } of old.slice(0, TOGETHER_MAX))
      await channels.keep({ kind: 'voucher', id, total: 0n, config: channel.config }, await escrow.read(id));
    const owed = [...channels.owed()].filter(({ id, channel }) => this.#isClaimable(id, channel));
    const due = owed
      .map(({ id, channel: { charged, balance, claimed, withdrawAt, owedSince } }) => ({
        claim: { id, charged: smaller(charged, balance), claimed },
        withdrawAt,
        owedSince,
      }))
      .sort((a, b) => b.withdrawAt - a.withdrawAt || a.owedSince - b.owedSince)
      .slice(0, TOGETHER_MAX);
    const claims = due.map(({ claim }) => claim);
    const isLeaving = due.some(({ withdrawAt }) => withdrawAt > 0);
    const isOld = due.some(({ owedSince }) => now - owedSince >= DUE_MS);
    const sum = sumOf(claims);
    if (sum === 0n || !(all || isLeaving || isOld || sum >= DUE_UNITS)) return;
    const run = (some: Operation['claims']) => {
      const worth = sumOf(some);
      // Money that is about to leave is worth all that it brings in.
      const gasMax = isLeaving ? worth : escrow.shareOf(worth) / (isOld ? 1n : EARLY_PART);
      return this.#run({ id: newId(), claims: some }, gasMax, worth);
    };
    try {
      await run(claims);
    } catch (error) {
      if (!isRevert(error) || claims.length === 1) throw error;
      // One that the contract refuses holds up no others.
      for (const claim of claims) await run([claim]).catch((fault) => this.#note(fault));
    }
  }

  /** False while a sale of it runs, for a channel of another key, and for one whose money has left. */
  #isClaimable(id: Hex, { config, charged, balance, claimed }: Channel): boolean {
    const { escrow, log } = this.#deps;
    const isOurs = config.receiverAuthorizer === escrow.terms?.receiverAuthorizer;
    if ((!isOurs || charged > balance) && !this.#reported.has(id)) {
      this.#reported.add(id);
      const event = isOurs ? 'channel_short' : 'channel_of_another_key';
      log({ level: 'error', event, channel: id, unclaimed: formatUsd(charged - claimed) });
    }
    return isOurs && balance > claimed && !this.#selling.has(id);
  }

  async #run(operation: Operation, gasMax: bigint, worth: bigint) {
    const { channels, escrow } = this.#deps;
    await channels.begin(operation);
    let sent: { readonly outcome: Promise<Outcome> };
    try {
      sent = await escrow.operate(operation, this.#channelsOf(operation), { gasMax, worth });
    } catch (error) {
      await channels.end(new Map());
      throw error;
    }
    return this.#book(operation, await sent.outcome);
  }

  /** What an earlier process began: if it was not sent, or its transaction is not known any more, the chain says what there is of it. */
  async #finish(operation: Operation): Promise<void> {
    const outcome = this.#deps.escrow.outcomeOf(operation);
    await this.#book(operation, (await outcome) ?? { kind: 'refused', reason: 'not_sent' });
  }

  /** The ledger's row, and the channels as the chain has them now. */
  async #book(operation: Operation, outcome: Outcome) {
    const { channels, escrow, log } = this.#deps;
    const states = new Map<Hex, ChannelState>();
    for (const id of this.#channelsOf(operation).keys()) states.set(id, await escrow.read(id));
    if (outcome.kind === 'refused') log({ level: 'error', event: 'claim_failed', reason: outcome.reason });
    const amount = operation.claims.reduce((sum, { id, charged, claimed }) => {
      const now = states.get(id)!.claimed;
      return sum + smaller(now, charged) - claimed;
    }, 0n);
    const told = outcome.kind === 'settled' ? outcome : { transaction: '', by: outcome.by };
    const row = amount > 0n || told.by ? this.#row(operation, amount, told) : undefined;
    await channels.end(states, row, operation.refund?.id);
    return { outcome, states };
  }

  #row(
    { id, refund }: Operation,
    amount: bigint,
    { transaction, by }: { readonly transaction: string; readonly by?: SettledBy | undefined },
  ): JournalEntry {
    const { asset, clock, escrow } = this.#deps;
    return {
      kind: 'claimed',
      time: clock.now(),
      network: asset.network,
      asset: asset.address,
      payer: escrow.address,
      payTo: escrow.payTo,
      nonce: id,
      amount: amount.toString(),
      route: refund ? 'refund of a channel' : 'claim',
      requestHash: '',
      transaction,
      ...by,
    };
  }

  #channelsOf({ claims, refund }: Operation): ReadonlyMap<Hex, Channel> {
    const ids = new Set([...claims.map(({ id }) => id), ...(refund ? [refund.id] : [])]);
    return new Map([...ids].map((id) => [id, this.#deps.channels.find(id)!]));
  }
}

function sumOf(claims: Operation['claims']): bigint {
  return claims.reduce((sum, { charged, claimed }) => sum + charged - claimed, 0n);
}

function newId(): Hex {
  return `0x${randomBytes(32).toString('hex')}`;
}
