import type { PrepaidLimits } from '@farthing/payment/prepaid/balances';
import type { Settings } from '../settings/settings.ts';

/** The money that is prepaid by the settings, and its limits. */
export function prepaidTerms(settings: Settings): { readonly money: string; readonly limits: PrepaidLimits } {
  const { FACILITATOR, NETWORK, PREPAID_USD_MAX, PREPAID_DAYS } = settings;
  return {
    money: FACILITATOR.length === 0 ? 'play' : NETWORK,
    limits: { usdMax: PREPAID_USD_MAX, idleDaysMax: PREPAID_DAYS },
  };
}
