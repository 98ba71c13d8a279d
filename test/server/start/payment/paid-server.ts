import type { Test } from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Asset, assetOn, BASE_USDC } from '../../../../src/payment/asset.ts';
import type { StartChanges } from '../../../../src/server/start/start.ts';
import { type Chain, startChain } from '../../../payment/chain/chain.ts';
import { openBooks } from '../../../rig/stopped-books.ts';
import { startTestServer } from '../../../rig/test-server.ts';
import { standIn } from './stand-ins.ts';

/** A chain, a facilitator on it, and a server that is paid through it, or that settles itself with FACILITATOR=self, or is paid through a stand-in with FACILITATOR=cdp or payai. `factories`: as of `Chain.facilitator`. */
export async function startPaidServer(
  t: Pick<Test, 'testdir' | 'teardown'>,
  environment: Readonly<Record<string, string>> = {},
  factories: (chain: Chain) => Promise<readonly Hex[]> = async () => [],
  changes: StartChanges = {},
) {
  const chain = await startChain(t, assetOn((environment.NETWORK ?? BASE_USDC.network) as Asset['network']));
  const facilitator = await chain.facilitator(await factories(chain));
  const own = environment.FACILITATOR?.split(',').includes('self') && { GAS_KEY: await chain.gasKey() };
  const merchant = privateKeyToAccount(generatePrivateKey()).address;
  const money = { FACILITATOR: facilitator.url, PAY_TO: merchant, RPC_URL: chain.url };
  const name = environment.FACILITATOR;
  const behind = name === 'cdp' || name === 'payai' ? await standIn(t, name, facilitator.url) : undefined;
  const settings = { ...money, ...own, ...environment, ...behind?.settings } as Record<string, string>;
  const server = await startTestServer(t, settings, changes);
  /** Stops the server. @returns its ledger */
  const booksAtEnd = async () => {
    await server.stop();
    const books = await openBooks(server.dataFolder);
    try {
      return { totals: books.ledger.totals(), entries: [...books.ledger.entries(0)] };
    } finally {
      await books.close();
    }
  };
  return { chain, facilitator, merchant, server, environment: settings, booksAtEnd, behind: behind?.seen };
}
