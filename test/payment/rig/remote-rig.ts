import { join } from 'node:path';
import { native } from '../../../src/native/index.ts';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import type { AuthHeaders } from '../../../src/payment/facilitator/auth-headers.ts';
import type { ChainWitness } from '../../../src/payment/facilitator/chain-witness.ts';
import type { FacilitatorAddress } from '../../../src/payment/facilitator/facilitator-client.ts';
import { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import {
  RemoteFacilitator,
  type RemoteFacilitatorDeps,
} from '../../../src/payment/facilitator/remote-facilitator.ts';
import { PurchaseLimits } from '../../../src/payment/gate/purchase-limits.ts';
import type { GateAnswer } from '../../../src/payment/purchase.ts';
import { SignatureCheck } from '../../../src/payment/signature.ts';
import type { Clock } from '../../../src/protocol/clock.ts';
import { openStore } from '../../../src/server/state/store.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';
import { serveFacilitator } from './facilitator-server.ts';
import { openRig, SetClock } from './gate-rig.ts';
import { MAX_TIMEOUT_SECONDS, PAY_TO } from './payments.ts';
import { type Asking, buy } from './requests.ts';

/** A facilitator over HTTP with a ledger of its own. */
export async function outsideFacilitator(
  t: Teardown,
  clock = new SetClock(),
  versions: readonly number[] = [1, 2],
) {
  const outside = openStore(join(temporaryFolder(t), 'outside'));
  const ledger = new LocalFacilitator({
    store: outside,
    clock,
    signatures: new SignatureCheck(native),
    startBalance: 100_000_000n,
  });
  const server = await serveFacilitator(ledger, versions);
  t.teardown(async () => {
    await server.close();
    await outside.close();
  });
  return { ledger, server };
}

export type RemoteRigOptions = Pick<RemoteFacilitatorDeps, 'witness' | 'confirms'> & {
  /** Authentication headers of the first facilitator. */
  readonly authHeaders?: AuthHeaders;
  /** Asked after the first. */
  readonly further?: readonly FacilitatorAddress[];
  /** A second facilitator on the same chain is asked after the first. */
  readonly secondOfSameLedger?: boolean;
  /** Versions of the protocol that the facilitator supports. */
  readonly versions?: readonly number[];
  /** Whether the chain, which is the facilitator's ledger, can be asked, and is asked before every answer. */
  readonly chain?: 'asked' | 'asked before answers';
  /** The call whose silence is not waited for, until `rig.patient()`. Every other call may take as long as a starved machine needs. */
  readonly silent?: 'verify' | 'settle';
};

const IMPATIENT_MS = 100;
const PATIENT_MS = 300_000;
/** Retries of a client that is told that the outcome is not known yet. */
const RETRIES_MAX = 100;

/** A gate whose facilitator is over HTTP, and misbehaves when it is told to. */
export async function openRemoteRig(
  t: Teardown,
  { silent, versions, chain, authHeaders, further = [], secondOfSameLedger, ...parts }: RemoteRigOptions = {},
) {
  const clock = new SetClock();
  const { ledger, server } = await outsideFacilitator(t, clock, versions);
  const second = secondOfSameLedger ? await serveFacilitator(ledger, versions) : undefined;
  if (second) t.teardown(() => second.close());
  const deadlines = { verify: PATIENT_MS, settle: PATIENT_MS };
  if (silent) deadlines[silent] = IMPATIENT_MS;
  const purchaseLimits = new PurchaseLimits(1000);
  const facilitatorEvents: Readonly<Record<string, unknown>>[] = [];
  const facilitator = new RemoteFacilitator({
    facilitators: [{ url: server.url, authHeaders }, ...(second ? [{ url: second.url }] : []), ...further],
    assets: [BASE_USDC],
    payTo: PAY_TO,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    clock,
    get verifyDeadlineMs() {
      return deadlines.verify;
    },
    get settleDeadlineMs() {
      return deadlines.settle;
    },
    log: (event) => facilitatorEvents.push(event),
    ...(chain && { witness: witnessOf(ledger, clock), confirmIntervalMs: 1 }),
    confirms: chain === 'asked before answers',
    knows: (payer) => purchaseLimits.owners.knows(payer),
    ...parts,
  });
  const rig = openRig(t, {
    clock,
    folder: temporaryFolder(t),
    facilitator: () => facilitator,
    purchaseLimits,
  });
  return {
    ...rig,
    server,
    second,
    facilitator,
    ledger,
    facilitatorEvents,
    charges: () => [...ledger.transfers()].length,
    patient: () => {
      deadlines.verify = PATIENT_MS;
      deadlines.settle = PATIENT_MS;
    },
    /** Time is stopped but for `clock.offsetMs`. */
    freeze: () => {
      const at = Date.now();
      clock.now = () => at + clock.offsetMs;
    },
  };
}

/** A chain node's view, as if the ledger were the token's contract. Its blocks' time is the clock's. */
export function witnessOf(ledger: LocalFacilitator, clock: Clock): ChainWitness {
  return {
    look: async (payment) => {
      const moved = await ledger.reconcile(payment);
      if (moved.kind === 'settled') return { kind: 'settled', transaction: moved.transaction };
      const chainTimeS = BigInt(Math.floor(clock.now() / 1000));
      return { kind: 'unused', chainTimeS, balance: ledger.balance(payment.payer) };
    },
  };
}

/** Buys as a client does that heeds `Retry-After`: again, as long as the outcome is not known. */
export async function buyPatiently(rig: Parameters<typeof buy>[0], asking: Asking): Promise<GateAnswer> {
  for (let retries = 0; ; retries++) {
    try {
      return await buy(rig, asking);
    } catch (error) {
      if ((error as { code?: string }).code !== 'settlement_pending' || retries === RETRIES_MAX) throw error;
    }
  }
}
