import { Farthing, type Workspace } from '@farthing/client';
import type { OpenWorkspace, Wallet } from '../state/session.ts';
import { listedFetch } from './calls.ts';

/** Attempts of a call; few, because a person waits. */
const ATTEMPTS_MAX = 4;
/** No limit in the client: the user agreed to the price of each call. */
const MAX_PRICE_USD = '1000000';

let client = clientOf(undefined);

/** The client of the server that the page came from. */
export function farthing(): Farthing {
  return client;
}

/** Sets the wallet that pays, or none. */
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
