import { Authorizations } from './authorizations.ts';
import { Budget, type Usd } from './budget.ts';
import type { PaymentAccount } from './wallet.ts';

/**
 * The header that pays for one request, from the `PAYMENT-REQUIRED` header of its 402: for programs that send requests
 * by other means. Its holder can charge it once.
 * @throws payment_unsupported, price_over_limit: nothing was signed then
 */
export async function signPayment(
  paymentRequired: string,
  { account, maxPriceUsd }: { readonly account: PaymentAccount; readonly maxPriceUsd: Usd },
): Promise<Readonly<Record<string, string>>> {
  const authorizations = new Authorizations({
    account: async () => account,
    budget: new Budget(maxPriceUsd, undefined),
  });
  const required = await authorizations.required(
    new Headers({ 'PAYMENT-REQUIRED': paymentRequired }),
    undefined,
  );
  return (await authorizations.take(required)).headers;
}
