import { join } from 'node:path';
import { BASE_USDC } from '../../src/payment/asset.ts';
import { LocalFacilitator } from '../../src/payment/local-facilitator.ts';
import { RemoteFacilitator, type RemoteFacilitatorParts } from '../../src/payment/remote-facilitator.ts';
import { SignatureCheck } from '../../src/payment/signature.ts';
import { openStore } from '../../src/state/store.ts';
import { serveFacilitator } from './facilitator-server.ts';
import {
  MAX_TIMEOUT_SECONDS,
  openBench,
  PAY_TO,
  SetClock,
  type Teardown,
  temporaryFolder,
} from './fixture.ts';

/** A facilitator over HTTP with a ledger of its own. */
export async function outsideFacilitator(t: Teardown, clock = new SetClock()) {
  const outside = openStore(join(temporaryFolder(t), 'outside'));
  const ledger = new LocalFacilitator({
    store: outside,
    clock,
    asset: BASE_USDC,
    signatures: new SignatureCheck(BASE_USDC),
    startBalance: 100_000_000n,
  });
  const server = await serveFacilitator(ledger);
  t.teardown(async () => {
    await server.close();
    await outside.close();
  });
  return { ledger, server };
}

export type RemoteBenchOptions = Pick<RemoteFacilitatorParts, 'verifyUrls' | 'bearerToken'> & {
  readonly deadlineMs?: number;
};

/** A gate whose facilitator is over HTTP, and misbehaves when it is told to. */
export async function openRemoteBench(
  t: Teardown,
  { deadlineMs = 10_000, ...parts }: RemoteBenchOptions = {},
) {
  const clock = new SetClock();
  const { ledger, server } = await outsideFacilitator(t, clock);
  const facilitator = new RemoteFacilitator({
    url: server.url,
    asset: BASE_USDC,
    payTo: PAY_TO,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    clock,
    verifyDeadlineMs: deadlineMs,
    settleDeadlineMs: deadlineMs,
    log: () => {},
    ...parts,
  });
  const bench = openBench(t, { clock, folder: temporaryFolder(t), facilitator: () => facilitator });
  return { ...bench, server, facilitator, charges: () => [...ledger.transfers()].length };
}
