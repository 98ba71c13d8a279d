import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { formatUsd } from '@farthing/protocol/money';
import type { Owners } from '@farthing/queues/owners';
import { ASSETS, prepaidOn } from '../asset.ts';
import { OUT_OF_STEP } from '../channel/channels.ts';
import type { ChannelDesk } from '../channel/desk.ts';
import type { Facilitator, FacilitatorHealth } from '../facilitator/facilitator.ts';
import { settlementTooDear } from '../facilitator/too-dear.ts';
import { alreadyUsed, PaymentRefused } from '../fault.ts';
import { type Hex, type Payment, paymentKey } from '../payment.ts';
import type { PrepaidBalances, PrepaidReturn } from '../prepaid/balances.ts';
import type { Answer, Effect, EffectHandlers, GateAnswer, Quote } from '../purchase.ts';
import type { AnswerStore } from '../records/answers.ts';
import type { Journal, JournalLimits } from '../records/journal.ts';
import { PaymentRecords } from '../records/records.ts';
import { Sweep } from '../records/sweep.ts';
import type { Genuine, SignatureCheck } from '../signature.ts';
import type { Store } from '../store.ts';
import { type ChallengeSettings, Challenges, challenge, unpaidError } from '../wire/challenge.ts';
import { readRequestKey, requestKeyHash } from '../wire/idempotency-key.ts';
import { mirroredNetwork, refusalHeaders } from '../wire/receipt.ts';
import type { RequestPayment } from '../wire/request-payment.ts';
import type { SignClaims } from '../wire/signed-receipt.ts';
import { clientGone, type PaidAttempt, type PaidRequest, waitUnlessGone } from './attempt.ts';
import { Checkout, termsOf } from './checkout.ts';
import { checkAmount, checkCoin, checkGenuine, checkWindow, waitForBegin } from './checks.ts';
import { ContractWallets } from './contract-wallets.ts';
import { Deliveries, undeliverable } from './deliveries.ts';
import { EarlierRequests } from './earlier-requests.ts';
import { Effects } from './effects.ts';
import { InFlightPurchase } from './in-flight-purchase.ts';
import { InFlightRequests } from './in-flight-requests.ts';
import { type GateCounts, type PurchaseLimits, tooBusy } from './purchase-limits.ts';
import { recoverPayments } from './recovery.ts';
import { Repetitions } from './repetitions.ts';
import { Settlements } from './settlements.ts';
import { Verifications } from './verifications.ts';

/** Recent payers to preload at startup (~20 ms). */
const REMEMBERED_ENTRIES = 10_000;

export interface GateDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: ChallengeSettings;
  readonly signatures: SignatureCheck;
  readonly facilitator: Facilitator;
  /** Balances of the same store. */
  readonly prepaid: PrepaidBalances;
  /** Channels of the same store. Absent: none are taken. */
  readonly desk?: ChannelDesk | undefined;
  /** How long a request waits for a settlement of unknown outcome. */
  readonly holdMsMax: number;
  /** An answer waits until the record of its settlement is as durable as the store makes it. */
  readonly answersAfterNote: boolean;
  readonly handlers: EffectHandlers;
  readonly answers: AnswerStore;
  readonly answerKeepMinutes: number;
  readonly journalLimits: JournalLimits;
  /** Bounds the paid requests that run at once, in this gate and those that share it; more are refused before any money moves. */
  readonly purchaseLimits: PurchaseLimits;
  /** Signs receipts as this server. Absent: they are not signed. */
  readonly sign?: SignClaims | undefined;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

export interface GateHealth {
  readonly facilitator: FacilitatorHealth;
  /** Payments whose outcome is not known yet. */
  readonly pending: number;
  readonly running: number;
}

/** Most times that one request waits for earlier ones of its payer. */
const LOOKS_MAX = 1000;

/**
 * Sells answers, each for exactly one charge: `quote → parse → local checks → reserve → verify ∥ work → settle → release → record`.
 * It knows no route and no HTTP. The rules that it follows: docs/payments.md.
 */
export class PaymentGate {
  readonly #deps: GateDeps;
  readonly #records: PaymentRecords;
  readonly #effects: Effects;
  readonly #inFlight = new InFlightRequests();
  readonly #settlements: Settlements;
  readonly #checkout: Checkout;
  readonly #verifications: Verifications;
  readonly #contractWallets: ContractWallets;
  readonly #counts: GateCounts;
  readonly #leaveLimits: () => void;
  readonly #deliveries: Deliveries;
  readonly #earlier: EarlierRequests;
  readonly #challenges: Challenges;
  readonly #sweep: Sweep;
  #recovered: Promise<void> = Promise.resolve();

  constructor(deps: GateDeps) {
    this.#deps = deps;
    const { store, clock, settings, answerKeepMinutes, facilitator, answers, log } = deps;
    const inFlight = this.#inFlight;
    this.#challenges = new Challenges(settings);
    // The store may hold payments from before the network was changed.
    const assets = [...settings.assets, ...ASSETS];
    const records = new PaymentRecords({
      store,
      clock,
      assets,
      answerKeepMinutes,
      prepaid: deps.prepaid,
      channels: deps.desk?.channels,
    });
    const effects = new Effects(deps.handlers);
    const { answersAfterNote, holdMsMax } = deps;
    const settlements = new Settlements({
      records,
      facilitator,
      answersAfterNote,
      holdMsMax,
      effects,
      answers,
      inFlight,
      clock,
      log,
    });
    const deliveries = new Deliveries({ records, answers, inFlight, clock, sign: deps.sign, log });
    this.#records = records;
    this.#effects = effects;
    this.#settlements = settlements;
    const verifications = new Verifications({ facilitator, clock, queues: deps.purchaseLimits.verifyQueues });
    this.#verifications = verifications;
    this.#counts = { inFlight, settlements };
    this.#leaveLimits = deps.purchaseLimits.join(this.#counts);
    this.#contractWallets = new ContractWallets({
      facilitator,
      verifications,
      settings,
      clock,
      known: (key) => (inFlight.ofPayment(key)?.record ?? records.find(key))?.payment,
    });
    this.#checkout = new Checkout({ records, facilitator, settlements, verifications });
    this.#deliveries = deliveries;
    this.#earlier = new EarlierRequests({
      records,
      inFlight,
      deliveries,
      settlements,
      repetitions: new Repetitions({ records, inFlight, deliveries, answers, effects }),
      checkPrice: (payment, amount) => {
        checkAmount(payment, amount);
        checkWindow(payment, settings, clock.now());
      },
    });
    this.#sweep = new Sweep({ records, answers, journalLimits: deps.journalLimits, clock, log });
  }

  /** The ledger of this store. */
  get journal(): Journal {
    return this.#records.journal;
  }

  /** Payers by Tenant. */
  get owners(): Owners {
    return this.#deps.purchaseLimits.owners;
  }

  /**
   * The 402 for a request without a usable payment. What would cost more to settle than it brings in is offered for prepaid money alone.
   * @param wallet wants to pay by its prepaid money: nothing else is offered, so that no client takes the chain instead. An empty text is
   *   no wallet's address @throws settlement_too_dear where no way of paying is left
   */
  challenge(quote: Quote, error: string, wallet?: Address | ''): Answer {
    if (quote.paidIn === 'channel') return this.#challenges.of(quote, error, 'channel');
    if (quote.paidIn === 'prepaid') return this.#challenges.of(quote, error, 'prepaid');
    const { facilitator, prepaid, settings } = this.#deps;
    const isCovered = wallet !== undefined && wallet !== '' && prepaid.left(wallet) >= quote.amount;
    const mayPrepay = quote.paidIn !== 'coin' && settings.prepaid && (isCovered || prepaid.takesMoney);
    if (facilitator.tooDear?.(quote.amount) !== undefined) {
      if (mayPrepay) return this.#challenges.of(quote, error, wallet === undefined ? 'unsettled' : 'prepaid');
      if (quote.paidIn === 'coin' || !settings.escrow) throw settlementTooDear();
      return this.#challenges.of(quote, error, 'channel');
    }
    if (wallet === undefined || !mayPrepay) return this.#challenges.of(quote, error, 'coin');
    const isShort = error === 'payment_required' && !isCovered;
    return this.#challenges.of(quote, isShort ? 'prepaid_insufficient' : error, 'prepaid');
  }

  /** Effects of payments that are neither finished nor gone. */
  openEffects(): readonly Effect[] {
    return this.#records.open().flatMap(({ record: { effect } }) => effect ?? []);
  }

  /** Finishes what a crash left; to be called before the first request. Effects that no payment knows are undone. */
  recover(): Promise<void> {
    for (const payer of this.#records.journal.recentPayers(REMEMBERED_ENTRIES))
      this.#deps.purchaseLimits.owners.markPaying(payer);
    const { facilitator, answers, log } = this.#deps;
    this.#recovered = recoverPayments({
      records: this.#records,
      settlements: this.#settlements,
      effects: this.#effects,
      facilitator,
      answers,
      log,
    }).then(() => this.#deps.desk?.begin());
    return this.#recovered;
  }

  /**
   * Answers a request to a paid route: the bought answer, a lawful repetition of one, or a 402.
   * @throws FarthingError for what is wrong with the request, and for trouble of the facilitator; nothing is charged then.
   */
  async handle(request: PaidRequest): Promise<GateAnswer> {
    await this.#recovered;
    const seen: { payment?: Payment } = {};
    try {
      return await this.#handle(request, seen);
    } catch (error) {
      if (!(error instanceof PaymentRefused)) throw error;
      if (seen.payment?.voucher)
        return undeliverable(this.#refusedVoucher(seen.payment, request.quote, error));
      const answer = this.challenge(request.quote, error.fault, request.wallet);
      if (!seen.payment) return undeliverable(answer);
      const left = this.#shownLeft(seen.payment, request.quote);
      if (!error.atSettlement) return undeliverable({ ...answer, headers: { ...answer.headers, ...left } });
      const { payer, asset, networkName } = seen.payment;
      const receipt = refusalHeaders(payer, error.fault, mirroredNetwork(asset, networkName));
      return undeliverable({ ...answer, headers: { ...answer.headers, ...receipt, ...left } });
    }
  }

  /** The 402 for a voucher that does not count. A client that is out of step reads where its channel stands. */
  #refusedVoucher(payment: Payment, quote: Quote, { fault, atSettlement }: PaymentRefused): Answer {
    const { id } = payment.voucher!;
    // What was bought with the same total before.
    const error = fault === 'authorization_already_used' ? OUT_OF_STEP : fault;
    const shown = error === OUT_OF_STEP ? this.#deps.desk?.shown(id) : undefined;
    const { settings } = this.#deps;
    const escrow = settings.escrow && { ...settings.escrow, shown };
    const answer = shown
      ? challenge(quote, error, { ...settings, escrow }, 'channel')
      : this.challenge(quote, error);
    const receipt = atSettlement && refusalHeaders(payment.payer, error, payment.asset.network);
    return { ...answer, headers: { ...answer.headers, ...receipt } };
  }

  /** Pays what is left in a channel back to its payer, for its own voucher. A 402 that asks for one otherwise. */
  async refundChannel(sent: RequestPayment, quote: Quote): Promise<Answer> {
    await this.#recovered;
    const { settings, desk } = this.#deps;
    if (!desk || !settings.escrow) throw new FarthingError('not_found', 'Channels are not taken here.');
    let payment: Payment | undefined;
    try {
      payment = this.#genuine(sent)?.payment;
      if (!payment) return this.challenge(quote, unpaidError(quote));
      if (payment.voucher?.kind !== 'refund') throw new PaymentRefused('unsupported_scheme');
      return await desk.refund(payment);
    } catch (error) {
      if (!(error instanceof PaymentRefused)) throw error;
      return payment?.voucher
        ? this.#refusedVoucher(payment, quote, error)
        : this.challenge(quote, error.fault);
    }
  }

  /** A wallet's prepaid money, for its own signature over a payment of nothing; a 402 that asks for one otherwise. Records nothing. */
  balance(sent: RequestPayment, quote: Quote): Answer {
    const { settings, clock, prepaid } = this.#deps;
    try {
      const genuine = this.#genuine(sent);
      if (!genuine) return this.challenge(quote, unpaidError(quote));
      const { payment, verdict } = genuine;
      checkCoin(payment, quote);
      checkAmount(payment, quote.amount);
      checkWindow(payment, settings, clock.now());
      if (verdict !== 'valid') throw new PaymentRefused('unsupported_signature');
      const { payer } = payment;
      const [left, refundable] = [prepaid.left(payer), prepaid.refundable(payer)].map(formatUsd);
      const body = { wallet: payer, prepaid_usd: left!, refundable_usd: refundable!, charged: false };
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body };
    } catch (error) {
      if (error instanceof PaymentRefused) return this.challenge(quote, error.fault);
      throw error;
    }
  }

  /**
   * The wallet that signed a payment, where it has paid before; undefined for any other. Nothing is looked up, and a payment that names no
   * such wallet is not parsed.
   */
  knownPayer(sent: RequestPayment): Address | undefined {
    const { owners } = this.#deps.purchaseLimits;
    if (!sent.mayBeFrom((payer) => owners.knows(payer))) return undefined;
    try {
      const payer = sent.parsed()?.payment.payer;
      if (!payer || !owners.knows(payer)) return undefined;
      return this.#genuine(sent)?.verdict === 'valid' ? payer : undefined;
    } catch (error) {
      if (error instanceof PaymentRefused) return undefined;
      throw error;
    }
  }

  /** False where any gate would refuse the payment by itself, its signature included, or there is none. */
  isGenuine(sent: RequestPayment): boolean {
    try {
      return this.#genuine(sent) !== undefined;
    } catch (error) {
      if (error instanceof PaymentRefused) return false;
      throw error;
    }
  }

  /** Header with the remaining prepaid money for such a request, for the wallet that signed. */
  #shownLeft({ asset, payer, mayBeOfContract }: Payment, { isRefund }: Quote): Record<string, string> {
    if (!asset.isPrepaid || mayBeOfContract) return {};
    const { prepaid } = this.#deps;
    const left = isRefund ? prepaid.refundable(payer) : prepaid.left(payer);
    return { 'X-Prepaid-Left-USD': formatUsd(left) };
  }

  #genuine(sent: RequestPayment): Genuine | undefined {
    const { settings, signatures } = this.#deps;
    const isKnown = (id: Hex) => this.#deps.desk?.channels.find(id) !== undefined;
    return sent.genuine((payment) => checkGenuine(payment, settings, signatures, isKnown));
  }

  /** Refunds an unused part of a purchase to prepaid money. Idempotent. */
  takeBack(owed: PrepaidReturn): Promise<void> {
    const { settings } = this.#deps;
    return this.#records.takeBack(owed, prepaidOn(settings.assets[0]!.network), settings.payTo);
  }

  /** Another server of the cluster charged the wallet: it counts as a paying wallet here, too. */
  paidElsewhere(payer: Address): void {
    this.#deps.purchaseLimits.owners.markPaying(payer);
  }

  /** Deletes expired records and answers now. */
  sweep(): Promise<void> {
    return this.#sweep.now();
  }

  health(): GateHealth {
    return {
      facilitator: this.#deps.facilitator.health(),
      pending: this.#settlements.pendingCount,
      running: this.#inFlight.purchaseCount - this.#settlements.pendingCount,
    };
  }

  async close(): Promise<void> {
    await this.#deps.desk?.close();
    await this.#sweep.close();
    await this.#settlements.close();
    await this.#inFlight.noted();
    this.#leaveLimits();
  }

  async #handle(request: PaidRequest, seen: { payment?: Payment }): Promise<GateAnswer> {
    const sent = request.payment;
    const genuine = this.#genuine(sent);
    if (!genuine)
      return undeliverable(this.challenge(request.quote, unpaidError(request.quote), request.wallet));
    const { payment, verdict } = genuine;
    seen.payment = payment;
    if (payment.voucher?.kind === 'refund')
      return undeliverable(await this.refundChannel(sent, request.quote));
    checkCoin(payment, request.quote);
    const key = paymentKey(payment);
    await waitForBegin(payment, this.#deps.clock, request.signal);
    let verifiedMs =
      verdict === 'needsFacilitator' ? await this.#contractWallets.prove(request, payment, key) : undefined;
    const requestKey = readRequestKey(sent.parsed()?.identifier, sent.idempotencyKey);
    const keyHash = requestKey === undefined ? undefined : requestKeyHash(payment.payer, requestKey);
    this.#refuseEarly(request, payment, key, keyHash);
    try {
      const prove = async () => {
        verifiedMs ??= await this.#prove(request, payment, keyHash);
      };
      const requestHash = await request.prepare(payment.payer, prove);
      return await this.#decide({ request, payment, key, keyHash, verifiedMs, requestHash });
    } finally {
      await request.dispose();
    }
  }

  /**
   * Verifies before the body is read to its end. A payer who is owed an answer, by the idempotency key of a charged request or
   * because one was not delivered, has paid already and need not be able to pay again.
   * @returns milliseconds the facilitator took; undefined when it need not be asked
   */
  async #prove(
    request: PaidRequest,
    payment: Payment,
    keyHash: string | undefined,
  ): Promise<number | undefined> {
    if (keyHash !== undefined && this.#records.findByRequestKey(keyHash)) return undefined;
    const { payer } = payment;
    if (this.#inFlight.owesAnswer(payer) || this.#records.owesAnswer(payer)) return undefined;
    const terms = { ...termsOf(request.quote), amount: payment.value };
    return await this.#verifications.verify(payment, terms, request);
  }

  /** Refuses early, without reading the body, unless an idempotency key may still allow the request. */
  #refuseEarly(request: PaidRequest, payment: Payment, key: string, keyHash: string | undefined): void {
    if (keyHash !== undefined && (this.#inFlight.ofKey(keyHash) ?? this.#records.findByRequestKey(keyHash)))
      return;
    const purchase = this.#inFlight.ofPayment(key);
    if (purchase) {
      if (purchase.stage === 'settling' || purchase.stage === 'answering') throw alreadyUsed();
      return;
    }
    if (this.#records.find(key)) throw alreadyUsed();
    if (request.priceFixed) checkAmount(payment, request.quote.amount);
    checkWindow(payment, this.#deps.settings, this.#deps.clock.now());
  }

  /** Looks again after every wait, until the request is a repetition, a copy, or a purchase of its own. */
  async #decide(attempt: PaidAttempt): Promise<GateAnswer> {
    const { signal } = attempt.request;
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      if (signal.aborted) throw clientGone();
      const earlier = this.#earlier.look(attempt);
      switch (earlier.kind) {
        case 'mine': {
          const { voucher } = attempt.payment;
          const busy = voucher && this.#deps.desk?.busy(voucher.id);
          if (!busy) return await this.#purchase(attempt);
          await waitUnlessGone(busy, signal);
          break;
        }
        case 'answer':
          return await earlier.answer;
        case 'wait':
          await waitUnlessGone(earlier.until, signal);
          break;
        default:
          return earlier satisfies never;
      }
    }
    throw tooBusy();
  }

  /** A purchase of its own: the claim in memory is made before anything is awaited. */
  async #purchase(attempt: PaidAttempt): Promise<GateAnswer> {
    const { payment, request, requestHash, key, keyHash } = attempt;
    const { purchaseLimits } = this.#deps;
    const leave = purchaseLimits.enter(payment.payer, this.#counts);
    const purchase = new InFlightPurchase({ key, payer: payment.payer, requestHash, keyHash });
    purchase.attend(request.signal);
    this.#inFlight.add(purchase);
    try {
      const run = () => this.#checkout.run(purchase, attempt);
      const { voucher } = payment;
      const bought = await (voucher ? this.#deps.desk!.inTurn(voucher.id, run) : run()).finally(leave);
      if (!bought.charged) {
        this.#inFlight.remove(purchase);
        purchase.releaseUncharged(bought.answer);
        return undeliverable(bought.answer);
      }
      purchaseLimits.owners.markPaying(payment.payer);
      const answer = this.#deliveries.withReceipt(bought.answer, bought.record, payment);
      purchase.release(answer);
      return this.#deliveries.ofPurchase(purchase, answer);
    } catch (error) {
      purchase.fail(error);
      if (purchase.stage !== 'unfinished') {
        this.#inFlight.remove(purchase);
        purchase.finish();
      }
      throw error;
    }
  }
}
