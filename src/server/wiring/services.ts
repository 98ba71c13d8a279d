import { assetOn } from '@farthing/payment/asset';
import { formatUsd } from '@farthing/protocol/money';
import type { Services, Terms } from '../http/access/services.ts';
import { pricesOf } from '../purchases/prices.ts';
import type { Settings } from '../settings/settings.ts';
import type { AllBooks } from './all-books.ts';
import type { Books } from './books.ts';
import type { Runtime } from './process.ts';
import { readinessOf } from './readiness.ts';

/** The services of the routes: the parts that the process has once, and one store. */
export function servicesOf(runtime: Runtime, all: AllBooks, books: Books): Services {
  const { settings, metrics, log, limits, search, previews, incoming, tenantLimits } = runtime;
  return {
    ...books.services,
    search,
    previews,
    baseUrl: runtime.baseUrl,
    prices: pricesOf(settings),
    prepaidUsdMax: settings.PREPAID_USD_MAX,
    limits: limits.http,
    terms: termsOf(settings, limits.extract.pagesMax),
    incoming,
    tenantLimits,
    onFault: (error, requestId) => {
      metrics.logged({ event: 'fault' });
      log.error({ event: 'fault', request_id: requestId, err: error });
    },
    readiness: () => readinessOf(runtime, all),
    jwks: async () => {
      await runtime.signer.refresh();
      return runtime.signer.jwks();
    },
  };
}

function termsOf(settings: Settings, pagesMax: number): Terms {
  const asset = assetOn(settings.NETWORK);
  const servesV1 = settings.X402_BODY_NETWORK === 'base';
  return {
    playUsd: settings.FACILITATOR.length === 0 ? formatUsd(settings.LOCAL_BALANCE_USD) : undefined,
    coin: `${asset.symbol} on ${asset.network}`,
    isTestnet: asset.isTestnet,
    bodyNetwork: servesV1 ? asset.networkNameV1 : asset.network,
    servesV1,
    name: settings.SERVICE_NAME,
    contact: settings.CONTACT,
    pagesMax,
    mediaSecondsMax: settings.MEDIA_SECONDS_MAX,
    payerIndexMinutes: settings.PAYER_INDEX_MINUTES,
  };
}
