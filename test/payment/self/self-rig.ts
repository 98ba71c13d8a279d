import { join } from 'node:path';
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { native } from '../../../src/native/index.ts';
import { type Asset, BASE_USDC } from '../../../src/payment/asset.ts';
import { RemoteFacilitator } from '../../../src/payment/facilitator/remote-facilitator.ts';
import { RpcWitness } from '../../../src/payment/facilitator/rpc-witness.ts';
import type { Payment, Terms } from '../../../src/payment/payment.ts';
import type { Paces } from '../../../src/payment/self/transactions.ts';
import { SignatureCheck } from '../../../src/payment/signature.ts';
import { readConfig } from '../../../src/server/settings/config.ts';
import { openSelf } from '../../../src/server/wiring/open-self.ts';
import { environmentOf } from '../../rig/environment.ts';
import { tokenDomain } from '../../rig/sign-transfer.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';
import { type Chain, startChain } from '../chain/chain.ts';
import { SetClock } from '../rig/gate-rig.ts';
import {
  addressOf,
  MAX_TIMEOUT_SECONDS,
  PAY_TO,
  PRICE,
  paymentOf,
  sign,
  v2Header,
  wallet,
} from '../rig/payments.ts';

export interface SelfRigOptions {
  readonly chain?: Chain;
  readonly asset?: Asset;
  /** Path of the data folder. */
  readonly folder?: string;
  readonly key?: Hex;
  readonly paces?: Partial<Paces>;
  /** Settings by their names in the code. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly settleDeadlineMs?: number;
  /** Facilitators over HTTP that are asked before it, and after it. */
  readonly first?: readonly string[];
  readonly further?: readonly string[];
}

export const TERMS: Terms = { amount: PRICE, resource: 'http://127.0.0.1/search', description: 'Search' };
const PURSE = 1_000_000n;

export interface Signing {
  readonly account?: PrivateKeyAccount;
  readonly asset?: Asset;
  readonly value?: bigint;
  readonly validAfter?: bigint;
  readonly seconds?: number;
  readonly purse?: bigint;
}

/** A payment of a wallet that has the money, good for five minutes. */
export async function pay(
  chain: Chain,
  {
    account = wallet(),
    asset = BASE_USDC,
    value = PRICE,
    validAfter = 0n,
    seconds = 300,
    purse = PURSE,
  }: Signing = {},
): Promise<Payment> {
  if (purse > 0n) await chain.mint(addressOf(account), purse);
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + seconds);
  const domain = tokenDomain(asset);
  const authorization = await sign(account, { value, validAfter, validBefore, domain });
  return paymentOf({ paymentSignature: v2Header(authorization) }, asset);
}

/** A look at the chain costs nothing here. */
const QUICK: Paces = { lookMs: 20, minedMs: 20, resendMs: 200, stuckMs: 60_000, gatherMs: 300 };

/** This server as its own facilitator, on a chain of the test's own unless one is given. */
export async function openSelfRig(t: Teardown, options: SelfRigOptions = {}) {
  const { asset = BASE_USDC, settleDeadlineMs, first = [], further = [] } = options;
  const chain = options.chain ?? (await startChain(t, asset));
  const folder = options.folder ?? temporaryFolder(t);
  const key = options.key ?? (await chain.gasKey());
  const settings = readConfig(
    environmentOf({
      FACILITATOR: 'self',
      PAY_TO,
      NETWORK: asset.network,
      RPC_URL: chain.url,
      GAS_KEY: key,
      DATA_DIR: join(folder, 'data'),
      SETTLED_TOGETHER_MAX: '1',
      ...options.settings,
    }),
  );
  const clock = new SetClock();
  const events: Readonly<Record<string, unknown>>[] = [];
  const log = (event: Readonly<Record<string, unknown>>) => void events.push(event);
  const witness = new RpcWitness({ urls: settings.RPC_URL });
  const self = await openSelf({
    settings,
    data: folder,
    asset,
    payTo: PAY_TO,
    signatures: new SignatureCheck(native),
    witness,
    clock,
    paces: { ...QUICK, ...options.paces },
    log,
  });
  const facilitator = new RemoteFacilitator({
    facilitators: [...first.map((url) => ({ url })), self.settler, ...further.map((url) => ({ url }))],
    assets: [asset],
    payTo: PAY_TO,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    clock,
    witness,
    ...(settleDeadlineMs && { settleDeadlineMs }),
    log,
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= self.close();
    return closed;
  };
  t.teardown(close);
  return { chain, folder, key, settings, clock, events, witness, facilitator, settler: self.settler, close };
}
