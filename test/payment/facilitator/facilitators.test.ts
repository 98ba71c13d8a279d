import { join } from 'node:path';
import t from 'tap';
import { native } from '../../../src/native/index.ts';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import type { Facilitator, Settlement, Verification } from '../../../src/payment/facilitator/facilitator.ts';
import { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import { faultOf } from '../../../src/payment/facilitator/reasons.ts';
import { RemoteFacilitator } from '../../../src/payment/facilitator/remote-facilitator.ts';
import type { Payment, Terms } from '../../../src/payment/payment.ts';
import { SignatureCheck } from '../../../src/payment/signature.ts';
import type { Address } from '../../../src/protocol/address.ts';
import { openStore } from '../../../src/server/state/store.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';
import { noChain } from '../chain/chain.ts';
import { serveFacilitator } from '../rig/facilitator-server.ts';
import { SetClock } from '../rig/gate-rig.ts';
import {
  addressOf,
  MAX_TIMEOUT_SECONDS,
  PAY_TO,
  PRICE,
  paymentOf,
  type Signing,
  sign,
  v1Header,
  v2Header,
  wallet,
} from '../rig/payments.ts';
import { openSelfRig } from '../self/self-rig.ts';

const TERMS: Terms = { amount: PRICE, resource: 'http://127.0.0.1/search', description: 'Search' };

interface Made {
  readonly facilitator: Facilitator;
  readonly clock: SetClock;
  /** Millionths of a dollar. */
  balance(address: Address): Promise<bigint>;
  /** Gives a wallet its first 100 dollars. */
  fund(address: Address): Promise<void>;
}

/** A ledger that gives every new wallet 100 dollars. */
function madeOf(facilitator: Facilitator, ledger: LocalFacilitator, clock: SetClock): Made {
  return {
    facilitator,
    clock,
    balance: async (address) => ledger.balance(address),
    fund: async () => undefined,
  };
}

function ledgerOf(t: Teardown): { ledger: LocalFacilitator; clock: SetClock } {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  const clock = new SetClock();
  const ledger = new LocalFacilitator({
    store,
    clock,
    signatures: new SignatureCheck(native),
    startBalance: 100_000_000n,
  });
  return { ledger, clock };
}

async function makeLocal(t: Teardown): Promise<Made> {
  const { ledger, clock } = ledgerOf(t);
  return madeOf(ledger, ledger, clock);
}

const makeRemote =
  (versions: readonly number[]) =>
  async (t: Teardown): Promise<Made> => {
    const { ledger, clock } = ledgerOf(t);
    const server = await serveFacilitator(ledger, versions);
    t.teardown(() => server.close());
    const facilitator = new RemoteFacilitator({
      facilitators: [{ url: server.url }],
      assets: [BASE_USDC],
      payTo: PAY_TO,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      clock,
      log: () => {},
    });
    await facilitator.connect();
    return madeOf(facilitator, ledger, clock);
  };

async function makeSelf(t: Teardown): Promise<Made> {
  const { chain, facilitator, clock } = await openSelfRig(t);
  return {
    facilitator,
    clock,
    balance: (address) => chain.balance(address),
    fund: (address) => chain.mint(address, 100_000_000n),
  };
}

async function pay(signing: Signing = {}, account = wallet(), version: 1 | 2 = 2): Promise<Payment> {
  const payload = await sign(account, signing);
  const header = version === 1 ? v1Header(payload) : v2Header(payload);
  return paymentOf({ paymentSignature: header });
}

/** Why it was refused, in our words; what it is otherwise. */
function reasonOf(said: Verification | Settlement): string {
  return 'reason' in said ? faultOf(said.reason) : JSON.stringify(said);
}

for (const [name, make] of [
  ['local', makeLocal],
  ['remote, v1 and v2', makeRemote([1, 2])],
  ['remote, v1 only', makeRemote([1])],
  ['remote, v2 only', makeRemote([2])],
  ['self, on a chain', makeSelf],
] as const) {
  const skip = make === makeSelf && noChain;
  t.test(`contract of every facilitator: ${name}`, { skip: skip || false }, async (t) => {
    const { facilitator, balance, fund, clock } = await make(t);
    const payFrom = async (signing: Signing = {}, version: 1 | 2 = 2) => {
      const account = wallet();
      await fund(addressOf(account));
      return pay(signing, account, version);
    };

    for (const version of [1, 2] as const) {
      const payment = await payFrom({}, version);
      const { payer } = payment;
      t.same(await facilitator.verify(payment, TERMS), { valid: true });
      t.equal(await balance(payer), 100_000_000n, 'verifying moves nothing');
      const settled = await facilitator.settle(payment, TERMS);
      t.match(settled, { kind: 'settled' });
      t.equal(await balance(payer), 100_000_000n - PRICE);
      const again = await facilitator.settle(payment, TERMS);
      t.equal(await balance(payer), 100_000_000n - PRICE, 'settling again moves nothing');
      t.match(again, settled.kind === 'settled' ? { kind: 'settled', transaction: settled.transaction } : {});
      t.match(await facilitator.reconcile(payment, TERMS), { kind: 'settled' });
    }

    for (const [signing, reason] of [
      [{ value: PRICE - 1n }, /amount/],
      [{ validBefore: BigInt(Math.floor(Date.now() / 1000) - 1) }, /expired/],
      [{ validAfter: BigInt(Math.floor(Date.now() / 1000) + 1000) }, /not_yet_valid/],
      [{ domain: { chainId: 1 } }, /signature/],
    ] as const) {
      const payment = await payFrom(signing);
      t.match(reasonOf(await facilitator.verify(payment, TERMS)), reason);
      t.match(reasonOf(await facilitator.settle(payment, TERMS)), reason);
    }

    const rich = await payFrom({ value: 200_000_000n });
    const wanted = { ...TERMS, amount: 200_000_000n };
    t.equal(reasonOf(await facilitator.verify(rich, wanted)), 'insufficient_funds');
    t.equal(reasonOf(await facilitator.settle(rich, wanted)), 'insufficient_funds');

    const never = await payFrom();
    if (facilitator.outcomeIsKnowable) t.same(await facilitator.reconcile(never, TERMS), { kind: 'absent' });
    clock.offsetMs = 120_000;
    t.match(await facilitator.settle(never, TERMS), { kind: 'refused' }, 'not after its end');
  });
}
