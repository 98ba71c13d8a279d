import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem/accounts';
import { native } from '../../../src/native/index.ts';
import { type Asset, BASE_USDC, prepaidOn } from '../../../src/payment/asset.ts';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import { PaymentGate } from '../../../src/payment/gate/gate.ts';
import { PurchaseLimits } from '../../../src/payment/gate/purchase-limits.ts';
import { PrepaidBalances } from '../../../src/payment/prepaid/balances.ts';
import { withPrepaid } from '../../../src/payment/prepaid/with-prepaid.ts';
import type { EffectHandler } from '../../../src/payment/purchase.ts';
import { AnswerStore } from '../../../src/payment/records/answers.ts';
import { SignatureCheck } from '../../../src/payment/signature.ts';
import type { Clock } from '../../../src/protocol/clock.ts';
import { payerTenantId } from '../../../src/protocol/id.ts';
import { prepaidRefunds, prepaying } from '../../../src/server/purchases/prepaid.ts';
import { openStore, type Store } from '../../../src/server/state/store.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';
import { MAX_TIMEOUT_SECONDS, PAY_TO } from './payments.ts';
import { StoredThings } from './stored-things.ts';

/** A clock that a test sets; it starts at the real time, so that real signatures fit. */
export class SetClock implements Clock {
  offsetMs = 0;
  now(): number {
    return Date.now() + this.offsetMs;
  }
}

export interface GateRig {
  readonly gate: PaymentGate;
  readonly store: Store;
  readonly local: LocalFacilitator;
  readonly prepaid: PrepaidBalances;
  readonly things: StoredThings;
  readonly clock: SetClock;
  readonly folder: string;
  /** Makes the folder that a Tenant with an index has. */
  index(account: PrivateKeyAccount): void;
}

/** The local ledger behind a facilitator that cannot tell outcomes: what a remote one looks like to the gate. */
export function forgetful(local: Facilitator): Facilitator {
  return {
    outcomeIsKnowable: false,
    verifiesContractWallets: false,
    verify: (payment, terms) => local.verify(payment, terms),
    settle: (payment, terms) => local.settle(payment, terms),
    reconcile: (payment, terms) => local.settle(payment, terms),
    connect: async () => {},
    health: () => local.health(),
  };
}

export interface RigOptions {
  store?: Store;
  folder?: string;
  clock?: SetClock;
  facilitator?: (local: LocalFacilitator) => Facilitator;
  assets?: readonly Asset[];
  bodyNetworks?: 'v1' | 'v2';
  /** The store as the gate (not the test) sees it. */
  seenStore?: (store: Store) => Store;
  purchasesMax?: number;
  /** Shared with other rigs; absent: its own. */
  purchaseLimits?: PurchaseLimits;
  /** Default false. */
  answersAfterNote?: boolean;
  /** Absent: nothing is extended. */
  extension?: EffectHandler<'workspace_extend'>;
  /** The gate will die with open work: it is not closed. */
  dies?: boolean;
}

/** A real gate over a real store in a temporary folder, with the local facilitator unless another is given. */
export function openRig(t: Teardown, options: RigOptions = {}): GateRig {
  const folder = options.folder ?? temporaryFolder(t);
  const store = options.store ?? openStore(join(folder, 'state'));
  const seen = options.seenStore?.(store) ?? store;
  const clock = options.clock ?? new SetClock();
  const signatures = new SignatureCheck(native);
  const local = new LocalFacilitator({
    store: seen,
    clock,
    signatures,
    startBalance: 100_000_000n,
  });
  const things = new StoredThings(seen);
  const limits = { usdMax: 100_000_000n, idleDaysMax: 90 };
  const prepaid = new PrepaidBalances({ money: 'eip155:8453', store: seen, clock, limits });
  const answers = new AnswerStore({
    tenants: { folder: (tenant) => join(folder, 'tenants', tenant) },
    bytesPerTenantMax: 2 ** 20,
  });
  const gate = new PaymentGate({
    store: seen,
    clock,
    settings: {
      assets: options.assets ?? [BASE_USDC],
      prepaid: prepaidOn('eip155:8453'),
      payTo: PAY_TO,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      bodyNetworks: options.bodyNetworks ?? 'v2',
    },
    signatures,
    facilitator: withPrepaid(options.facilitator?.(local) ?? local, prepaid, signatures),
    prepaid,
    answersAfterNote: options.answersAfterNote ?? false,
    // Who waits is told at once.
    holdMsMax: 0,
    handlers: {
      workspace_create: things,
      workspace_extend: options.extension ?? NEVER,
      ingest: NEVER,
      prepay: prepaying(prepaid),
      prepaid_refund: prepaidRefunds(prepaid),
    },
    answers,
    answerKeepMinutes: 15,
    journalLimits: { keepDays: 400, entriesMax: 1_000_000 },
    purchaseLimits: options.purchaseLimits ?? new PurchaseLimits(options.purchasesMax ?? 1000),
    log: () => undefined,
  });
  t.teardown(async () => {
    if (!options.dies) await gate.close();
    if (!options.store) await store.close();
  });
  const index = (account: PrivateKeyAccount) =>
    void mkdirSync(join(folder, 'tenants', payerTenantId(account.address)), { recursive: true });
  return { gate, store, local, prepaid, things, clock, folder, index };
}

/** Effects of these kinds are not made here. */
const NEVER = {
  commit: () => Promise.reject(new Error('there is no such effect')),
  undo: () => Promise.reject(new Error('there is no such effect')),
  reissue: () => Promise.reject(new Error('there is no such effect')),
  pending: async () => [],
} satisfies EffectHandler;

export function chargesOf(rig: Pick<GateRig, 'local'>): number {
  return [...rig.local.transfers()].length;
}
