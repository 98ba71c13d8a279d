import { type AtomicAmount, formatUsd, type ShownPrice } from '../domain/money.ts';
import type { Settings } from '../settings/settings.ts';

/** What the requests that are paid by the call cost. */
export interface Prices {
  readonly search: AtomicAmount;
  readonly ingest: AtomicAmount;
  readonly item: AtomicAmount;
  /** Before a request is known: in the description of the interface and the guide. */
  readonly shown: Readonly<Record<'search' | 'ingest' | 'item', ShownPrice>>;
  /** By name, in US dollars, with those of a workspace: `prices_usd` of `/readyz`. */
  readonly listed: Readonly<Record<string, string>>;
}

export function pricesOf(settings: Settings): Prices {
  const { SEARCH_PRICE_USD: search, INGEST_PRICE_USD: ingest, ITEM_PRICE_USD: item } = settings;
  const shown = {
    search: { usd: formatUsd(search) },
    ingest: { usd: formatUsd(ingest) },
    item: { usd: formatUsd(item) },
  };
  return {
    search,
    ingest,
    item,
    shown,
    listed: {
      search: shown.search.usd,
      ingest: shown.ingest.usd,
      item: shown.item.usd,
      workspace: formatUsd(settings.WORKSPACE_BASE_USD),
      workspace_minute: formatUsd(settings.WORKSPACE_MINUTE_USD),
    },
  };
}
