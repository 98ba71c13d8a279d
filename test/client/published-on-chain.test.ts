import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { noChain } from '../payment/chain/chain.ts';
import { onlyDeep } from '../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { startPaidServer } from '../server/start/payment/paid-server.ts';
import { type Client, KINDS } from './published/install.ts';

/**
 * The published clients of x402, unmodified, pay for every route on both chains, through each kind of facilitator: what they were told,
 * the books and the chain agree. `DEEP=1 npm test -- test/client/published-on-chain.test.ts`
 */

const MINUTES_MAX = 25;
t.setTimeout(MINUTES_MAX * 60_000);
const run = promisify(execFile);
const PURSE = 1_000_000n;
const BOUGHT = ['ingest', 'search', 'item', 'workspace', 'extend'];
/** Each kind of facilitator; those that authenticate calls do so alike on any chain. */
const THROUGH = [
  ['eip155:8453', 'self'],
  ['eip155:84532', 'self'],
  ['eip155:8453', undefined],
  ['eip155:84532', undefined],
  ['eip155:8453', 'cdp'],
  ['eip155:84532', 'payai'],
] as const;

async function installAll(t: Test, folder: string): Promise<Client[]> {
  const clients: Client[] = [];
  for (const { names, install } of Object.values(KINDS)) {
    try {
      const installed = await install(join(folder, `clients-${names[0]!.replace('/', '-')}`));
      clients.push(...names.map((name) => ({ name, ...installed })));
    } catch (error) {
      const why = String(error).split('\n')[0];
      for (const name of names)
        await t.test(name, { skip: `is not to be had here: ${why}` }, () => undefined);
    }
  }
  return clients;
}

t.test(
  'published clients pay on both chains, through each facilitator',
  { skip: noChain ?? onlyDeep },
  async (t) => {
    const folder = t.testdir({});
    const clients = await installAll(t, folder);
    t.ok(clients.length > 0, `${clients.length} clients: ${clients.map(({ name }) => name).join(', ')}`);
    for (const [network, facilitator] of THROUGH) {
      const through = `${network}, ${facilitator ?? 'a facilitator of the protocol’s packages'}`;
      await t.test(through, async (t) => {
        const DATA_DIR = join(folder, `${network.slice(7)}-${facilitator ?? 'remote'}`);
        const { chain, merchant, server, booksAtEnd, behind } = await startPaidServer(t, {
          NETWORK: network,
          X402_BODY_NETWORK: 'base',
          DATA_DIR,
          ...(facilitator && { FACILITATOR: facilitator }),
        });
        const transactions: string[] = [];
        const payers: string[] = [];
        for (const { name, program, command } of clients) {
          const key = generatePrivateKey();
          const payer = privateKeyToAddress(key);
          await chain.mint(payer, PURSE);
          const env = { ...BARE_ENVIRONMENT, HOME: folder };
          const { stdout } = await run(command, [program, name, server.url, network, key], { env });
          const bought = stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
          t.same(
            bought.map(({ what }) => what),
            BOUGHT,
            name,
          );
          t.ok(
            bought.every(({ status }) => status < 300),
            `${name} was answered each time`,
          );
          transactions.push(...bought.map(({ transaction }) => transaction));
          payers.push(payer);
        }
        const left = await Promise.all(payers.map((payer) => chain.balance(payer)));
        const { totals, entries } = await booksAtEnd();
        t.match(totals, { settled: { count: BOUGHT.length * clients.length }, pending: { count: 0 } });
        t.equal(
          await chain.balance(merchant),
          BigInt(totals.settled.amount),
          'the merchant has what the books say',
        );
        for (const [index, payer] of payers.entries()) {
          const own = entries.filter((entry) => entry.payer === payer.toLowerCase());
          const spent = own.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
          t.equal(PURSE - left[index]!, spent, `${clients[index]!.name} paid what the books say`);
        }
        if (behind) t.equal(behind.turnedAway, 0, 'each call had a good token');
        t.same(
          entries.map(({ transaction }) => transaction),
          transactions,
          'receipts and books name the same transactions',
        );
      });
    }
  },
);
