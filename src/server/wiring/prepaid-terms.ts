import type { PrepaidLimits } from '@farthing/payment/prepaid/balances';
import type { Settings } from '../settings/settings.ts';

/** A quarter of a year: money unused for so long should be refunded, and the account closed. */
const IDLE_DAYS_MAX = 90;

/** The money that is prepaid by the settings, and its limits. */
export function prepaidTerms(settings: Settings): { readonly money: string; readonly limits: PrepaidLimits } {
  const { FACILITATOR, NETWORK, PREPAID_USD_MAX } = settings;
  return {
    money: FACILITATOR.length === 0 ? 'play' : NETWORK,
    limits: { usdMax: PREPAID_USD_MAX, idleDaysMax: IDLE_DAYS_MAX },
  };
}
