import { type AtomicAmount, formatUsd, PREPAID_CONTRACT, USD_DECIMALS } from '@farthing/protocol/money';
import type { ExactEvmScheme } from '@x402/evm/exact/client';
import type { PaymentRequired, PaymentRequirements, x402Client, x402HTTPClient } from '@x402/fetch';
import { FarthingError } from '../answers/error.ts';
import type { Budget, Usd } from './budget.ts';
import type { PaymentAccount } from './wallet.ts';

/** A signed payment. Its holder can charge it once, until it expires. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly amount: AtomicAmount;
  /** The paid call and its terms: another call on the same terms may reuse the authorization. */
  readonly terms: string;
  /** Seconds since the epoch. */
  readonly validBefore: number;
  /** Reused from an uncharged call. */
  readonly reused: boolean;
  /** Paid from prepaid money, which the budget has counted already. */
  readonly isPrepaid: boolean;
}

/** The pending payment, for `approve`. */
export interface Price {
  readonly usd: string;
  readonly payTo: string;
  readonly network: string;
  readonly description: string;
}

export interface AuthorizationDeps {
  readonly account: () => Promise<PaymentAccount>;
  readonly budget: Budget;
  readonly approve?: (price: Price) => boolean | Promise<boolean>;
}

/** Refunds prepaid money. */
export const REFUND_PATH = '/agent/v1/prepaid/refund';

/** Servers want some seconds left to settle in; a slow upload needs more. */
const SECONDS_LEFT_MIN = 60;

/** Signs within the budget, and keeps what was signed and not charged for the next call on the same terms. */
export class Authorizations {
  readonly #deps: AuthorizationDeps;
  readonly #free = new Map<string, Authorization[]>();
  /** The least that there was not enough prepaid money for, since some was added. */
  #prepaidShort: AtomicAmount | undefined;
  #hasPrepaid = false;
  #signer: Promise<{ scheme: ExactEvmScheme; client: x402Client; http: x402HTTPClient }> | undefined;

  constructor(deps: AuthorizationDeps) {
    this.#deps = deps;
  }

  /**
   * @param maxPriceUsd for this call, below the client's own limit
   * @throws payment_unsupported, price_over_limit, budget_exceeded, payment_declined: nothing was signed then
   * @internal The declarations of the protocol's package need Node's: those of this client name none of them.
   */
  async take(required: PaymentRequired, maxPriceUsd?: Usd): Promise<Authorization> {
    const { scheme, client, http } = await this.#ready();
    const { chosen, amount, isPrepaid } = prepaidOffer(required) ?? cheapest(required, scheme);
    const terms = JSON.stringify([chosen, required.resource?.url]);
    const { budget } = this.#deps;
    // A refund costs nothing. Minutes in reserve do, though they are paid in prepaid money, too.
    const isRefund = isPrepaid && required.resource?.url.endsWith(REFUND_PATH) === true;
    if (!isRefund) budget.checkPrice(amount, maxPriceUsd);
    this.#forgetEnded();
    const free = this.#free.get(terms) ?? [];
    const at = free.findIndex(({ validBefore }) => validBefore - seconds() >= SECONDS_LEFT_MIN);
    if (at >= 0) return { ...free.splice(at, 1)[0]!, reused: true };
    if (!isPrepaid) budget.hold(amount);
    try {
      if (!isRefund && amount > 0n) await this.#approve(chosen, amount, required);
      const payload = await client.createPaymentPayload({ ...required, accepts: [chosen] });
      const { authorization } = payload.payload as { authorization?: { validBefore?: unknown } };
      return {
        headers: http.encodePaymentSignatureHeader(payload),
        amount,
        terms,
        validBefore: Number(authorization?.validBefore ?? seconds() + chosen.maxTimeoutSeconds),
        reused: false,
        isPrepaid,
      };
    } catch (error) {
      if (!isPrepaid) budget.release(amount);
      throw isRefusal(error) ? declined(error) : error;
    }
  }

  /** The call was not charged: its authorization is as good as new. */
  giveBack(authorization: Authorization): void {
    const free = this.#free.get(authorization.terms) ?? [];
    this.#free.set(authorization.terms, [...free, authorization]);
  }

  /** The call was charged, or may have been. */
  spent({ amount, isPrepaid }: Authorization): void {
    if (!isPrepaid) this.#deps.budget.spend(amount);
  }

  /** Prepaid money is asked for, and there is not enough: the call is to be paid on the chain. @internal */
  isShort(required: PaymentRequired): boolean {
    const offer = prepaidOffer(required);
    if (!offer) return false;
    if (this.#prepaidShort !== undefined && offer.amount >= this.#prepaidShort) return true;
    // A server of a cluster may not own the wallet's store, and see none of its money.
    return required.error === 'prepaid_insufficient' && !this.#hasPrepaid;
  }

  /** The server has not so much prepaid money of this wallet: it is not spent for as much again. */
  wasShort({ amount }: Authorization): void {
    if (this.#prepaidShort === undefined || amount < this.#prepaidShort) this.#prepaidShort = amount;
  }

  /** Prepaid money was added. */
  wasAdded(): void {
    this.#hasPrepaid = true;
    this.#prepaidShort = undefined;
  }

  /** @internal Reads the 402's header, which every answer of this status has. */
  async required(headers: Headers, body: unknown): Promise<PaymentRequired> {
    const { http } = await this.#ready();
    try {
      return http.getPaymentRequiredResponse((name) => headers.get(name), body);
    } catch (cause) {
      throw new FarthingError('payment_unsupported', 'The 402 of the server cannot be read.', {
        status: 402,
        cause,
      });
    }
  }

  #ready() {
    this.#signer ??= this.#deps.account().then(async (account) => {
      // Nine tenths of the client's size, and no use to whoever has a workspace's token alone.
      const [evm, x402] = await Promise.all([import('@x402/evm/exact/client'), import('@x402/fetch')]);
      const scheme = new evm.ExactEvmScheme(account);
      // The budget limits what is paid, by call and in all, and the offer is chosen here: no second limit of the library's own.
      const client = new x402.x402Client()
        .register('eip155:*', scheme)
        .setSpendControls({ maxAmountPerPayment: false, allowedAssets: true });
      return { scheme, client, http: new x402.x402HTTPClient(client) };
    });
    this.#signer.catch(() => {
      this.#signer = undefined;
    });
    return this.#signer;
  }

  async #approve(
    chosen: PaymentRequirements,
    amount: AtomicAmount,
    required: PaymentRequired,
  ): Promise<void> {
    const { approve } = this.#deps;
    const price = {
      usd: formatUsd(amount),
      payTo: chosen.payTo,
      network: chosen.network,
      description: required.resource?.description ?? '',
    };
    if (approve && !(await approve(price)))
      throw new FarthingError(
        'payment_declined',
        `The price of ${price.usd} USD was not approved. Nothing was signed.`,
      );
  }

  /** Expired authorizations can't be charged any more. */
  #forgetEnded(): void {
    for (const [terms, free] of this.#free) {
      const live = free.filter(({ validBefore }) => validBefore > seconds());
      for (const { amount, isPrepaid } of free.filter((authorization) => !live.includes(authorization)))
        if (!isPrepaid) this.#deps.budget.release(amount);
      if (live.length > 0) this.#free.set(terms, live);
      else this.#free.delete(terms);
    }
  }
}

/** EIP-1193: the user declined. */
const USER_REJECTED = 4001;

function isRefusal(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === USER_REJECTED;
}

function declined(cause: unknown): FarthingError {
  return new FarthingError('payment_declined', 'The wallet refused to sign. Nothing was paid.', { cause });
}

/** The offer to pay with prepaid money. */
function prepaidOffer({ accepts }: PaymentRequired) {
  const chosen = accepts.find(
    ({ scheme, asset, amount }) =>
      scheme === 'exact' &&
      asset.toLowerCase() === PREPAID_CONTRACT.toLowerCase() &&
      /^\d{1,30}$/.test(amount),
  );
  return chosen && { chosen, amount: BigInt(chosen.amount), isPrepaid: true };
}

/** The cheapest offer in a dollar coin that the scheme knows. */
function cheapest(
  { accepts }: PaymentRequired,
  scheme: ExactEvmScheme,
): { chosen: PaymentRequirements; amount: AtomicAmount; isPrepaid: boolean } {
  const offers = accepts.flatMap((chosen) => {
    const known =
      chosen.scheme === 'exact' && chosen.network.startsWith('eip155:') && /^\d{1,30}$/.test(chosen.amount)
        ? scheme.findDefaultAsset(chosen.asset, chosen.network)
        : undefined;
    return known
      ? [{ chosen, amount: inMicroUsd(BigInt(chosen.amount), known.decimals), isPrepaid: false }]
      : [];
  });
  const best = offers.toSorted((a, b) => (a.amount < b.amount ? -1 : 1))[0];
  if (best) return best;
  throw new FarthingError(
    'payment_unsupported',
    'The server offers no "exact" payment in a dollar coin that this client knows. Nothing was signed.',
    { status: 402, facts: { accepts } },
  );
}

/** Rounded up, so that a limit is never passed by rounding. */
function inMicroUsd(amount: bigint, decimals: number): AtomicAmount {
  const [up, down] = [10n ** BigInt(USD_DECIMALS), 10n ** BigInt(decimals)];
  return (amount * up + down - 1n) / down;
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
