import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { native } from '../../src/native/index.ts';
import type { Facilitator } from '../../src/payment/facilitator/facilitator.ts';
import { LocalFacilitator } from '../../src/payment/facilitator/local-facilitator.ts';
import { SignatureCheck } from '../../src/payment/signature.ts';
import { openStore } from '../../src/server/state/store.ts';
import { serveFacilitator } from '../../test/payment/rig/facilitator-server.ts';

const START_BALANCE = 100_000_000n;

/** A facilitator over HTTP with a ledger of its own, which takes one call after the other. */
export async function startSlowFacilitator(
  callsPerSecond: number,
): Promise<{ url: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-siege-facilitator-'));
  const store = openStore(folder);
  const ledger = new LocalFacilitator({
    store,
    clock: { now: () => Date.now() },
    signatures: new SignatureCheck(native),
    startBalance: START_BALANCE,
  });
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(call: () => Promise<T>): Promise<T> => {
    const turn = last.then(() => pause(1000 / callsPerSecond));
    last = turn;
    return turn.then(call);
  };
  const slow: Pick<Facilitator, 'verify' | 'settle'> = {
    verify: (payment, terms) => inTurn(() => ledger.verify(payment, terms)),
    settle: (payment, terms) => inTurn(() => ledger.settle(payment, terms)),
  };
  const server = await serveFacilitator(Object.assign(Object.create(ledger) as Facilitator, slow));
  return {
    url: server.url,
    close: async () => {
      await server.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
