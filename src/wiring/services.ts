import type { Slots } from '../cluster/books/slots.ts';
import { formatUsd } from '../domain/money.ts';
import type { Services, Terms } from '../http/access/services.ts';
import { pricesOf } from '../purchases/prices.ts';
import type { Settings } from '../settings/settings.ts';
import type { Slot } from './books.ts';
import type { Runtime } from './process.ts';
import { readinessOf } from './readiness.ts';

/** What the routes need: what the process has once, and the books of one slot. */
export function servicesOf(runtime: Runtime, slots: Slots, slot: Slot): Services {
  const { settings, metrics, log, limits, search, previews, incoming, tenantLimits } = runtime;
  return {
    ...slot.services,
    search,
    previews,
    baseUrl: runtime.baseUrl,
    prices: pricesOf(settings),
    limits: limits.http,
    terms: termsOf(settings),
    incoming,
    tenantLimits,
    onFault: (error, requestId) => {
      metrics.logged({ event: 'fault' });
      log.error({ event: 'fault', request_id: requestId, err: error });
    },
    readiness: () => readinessOf(runtime, slots),
    jwks: async () => {
      await runtime.signer.refresh();
      return runtime.signer.jwks();
    },
  };
}

function termsOf(settings: Settings): Terms {
  return {
    playUsd: settings.FACILITATOR_URL === '' ? formatUsd(settings.LOCAL_BALANCE_USD) : undefined,
    bodyNetwork: settings.X402_BODY_NETWORK,
    contact: settings.CONTACT,
    pagesMax: settings.PAGES_MAX,
    mediaSecondsMax: settings.MEDIA_SECONDS_MAX,
    payerIndexMinutes: settings.PAYER_INDEX_MINUTES,
  };
}
