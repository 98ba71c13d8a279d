import { type AtomicAmount, formatUsd, type ShownPrice } from '@farthing/protocol/money';
import { QUERIES_MAX } from '@farthing/protocol/search';
import { groupOf, type Settings } from '../settings/settings.ts';

/** Prices of requests that are paid by the call. */
export interface Prices {
  readonly search: AtomicAmount;
  /** For each further question of a search. */
  readonly question: AtomicAmount;
  readonly ingest: AtomicAmount;
  readonly item: AtomicAmount;
  /** Before a request is known: in the description of the interface and the guide. */
  readonly shown: Readonly<Record<'search' | 'ingest' | 'item', ShownPrice>>;
  /** By name, in US dollars, with those of a workspace: `prices_usd` of `/readyz`. */
  readonly listed: Readonly<Record<string, string>>;
}

export function pricesOf(settings: Settings): Prices {
  const prices = groupOf(settings, 'prices');
  const workspace = groupOf(settings, 'workspace');
  const { search, question, ingest, item } = prices;
  const shown = {
    search: shownSearch(search, question),
    ingest: { usd: formatUsd(ingest) },
    item: { usd: formatUsd(item) },
  };
  return {
    ...prices,
    shown,
    listed: {
      search: formatUsd(search),
      ...(question > 0n && { question: formatUsd(question) }),
      ingest: shown.ingest.usd,
      item: shown.item.usd,
      workspace: formatUsd(workspace.base),
      workspace_minute: formatUsd(workspace.perMinute),
    },
  };
}

function shownSearch(search: AtomicAmount, question: AtomicAmount): ShownPrice {
  if (question === 0n) return { usd: formatUsd(search) };
  const most = search + question * BigInt(QUERIES_MAX - 1);
  const dynamic = `${formatUsd(question)} USD more for each question of \`queries\` after the first`;
  return { minUsd: formatUsd(search), maxUsd: formatUsd(most), dynamic };
}
