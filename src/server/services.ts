import type { Services } from '../http/access/services.ts';
import { Incoming } from '../http/body/incoming.ts';
import { sharesOf } from '../http/body/shared-bytes.ts';
import { readinessOf } from './readiness.ts';
import type { Runtime } from './wire-process.ts';
import type { Slot } from './wire-slot.ts';

/** What the routes need: what the process has once, and the books of its slot. */
export function servicesOf(runtime: Runtime, slot: Slot): Services {
  const { settings, metrics, log, limits } = runtime;
  return {
    ...slot.services,
    baseUrl: runtime.baseUrl,
    prices: {
      search: settings.SEARCH_PRICE_USD,
      ingest: settings.INGEST_PRICE_USD,
      item: settings.ITEM_PRICE_USD,
    },
    limits: limits.http,
    incoming: new Incoming({
      folder: runtime.stagingFolder,
      shares: sharesOf(limits.http.incomingBytesMax),
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
