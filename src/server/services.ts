import { formatUsd } from '../domain/money.ts';
import type { Services, Terms } from '../http/access/services.ts';
import { Incoming } from '../http/body/incoming.ts';
import { SharedBytes } from '../http/body/shared-bytes.ts';
import { pricesOf } from '../purchases/prices.ts';
import type { Settings } from '../settings/settings.ts';
import { readinessOf } from './readiness.ts';
import type { Runtime } from './wire-process.ts';
import type { Slot } from './wire-slot.ts';

/** What the routes need: what the process has once, and the books of its slot. */
export function servicesOf(runtime: Runtime, slot: Slot): Services {
  const { settings, metrics, log, limits } = runtime;
  const { unproved, proved, tenant } = limits.http.incomingBytesMax;
  return {
    ...slot.services,
    baseUrl: runtime.baseUrl,
    prices: pricesOf(settings),
    limits: limits.http,
    terms: termsOf(settings),
    incoming: new Incoming({
      folder: runtime.stagingFolder,
      shares: { unproved: new SharedBytes(unproved), proved: new SharedBytes(proved, tenant) },
      freeBytesMin: limits.http.freeDiskBytesMin,
    }),
    tenantLimits: runtime.tenantLimits,
    onFault: (error, requestId) => {
      metrics.logged({ event: 'fault' });
      log.error({ event: 'fault', request_id: requestId, err: error });
    },
    readiness: () => readinessOf(runtime, slot),
    jwks: () => runtime.signer.jwks(),
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
