import { Farthing, type Workspace } from '../../client/index.ts';
import { listedFetch } from './calls.ts';
import type { OpenWorkspace } from './session.ts';
import type { Wallet } from './wallet.ts';

/** Of a call whose answer is lost: somebody waits at the page. */
const ATTEMPTS_MAX = 4;
/** No limit of the client's: each call has the price that its person agreed to. */
const MAX_PRICE_USD = '1000000';

let client = clientOf(undefined);

/** The client of the server that the page came from. */
export function farthing(): Farthing {
  return client;
}

/** From now on this wallet pays, or none. */
export function payWith(wallet: Wallet | undefined): void {
  client = clientOf(wallet);
}

export function workspaceOf(opened: OpenWorkspace): Workspace {
  return client.workspaces.open(opened);
}

function clientOf(wallet: Wallet | undefined): Farthing {
  return new Farthing({
    baseUrl: location.origin,
    account: wallet?.account,
    maxPriceUsd: MAX_PRICE_USD,
    attemptsMax: ATTEMPTS_MAX,
    fetch: listedFetch,
  });
}
