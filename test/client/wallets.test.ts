import { inspect } from 'node:util';
import t from 'tap';
import { createWalletClient, custom, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { Farthing, FarthingError } from '../../src/client/index.ts';
import { noChain, startChain } from '../payment/chain/chain.ts';
import { startTestServer } from '../rig/test-server.ts';

const { url } = await startTestServer(t);

t.test(
  'a node that holds the key signs, over HTTP and through a custom provider',
  { skip: noChain ?? false },
  async (t) => {
    const node = await startChain(t);
    const overHttp = createWalletClient({ chain: base, transport: http(node.url) });
    const asked: string[] = [];
    const provider = {
      request: (call: { method: string; params?: unknown }) => {
        asked.push(call.method);
        return overHttp.request(call as Parameters<typeof overHttp.request>[0]);
      },
    };
    const throughProvider = createWalletClient({ chain: base, transport: custom(provider) });
    for (const [index, signer] of [overHttp, throughProvider].entries()) {
      const farthing = new Farthing({ baseUrl: url, signer, budgetUsd: '0.04' });
      await farthing.ingest(new Blob([`A gull, seen ${index + 1} times.`]));
      t.match(await farthing.search('gull'), { charged: true });
      t.equal(farthing.spending.spentUsd, '0.036');
    }
    t.equal(asked.filter((method) => method === 'eth_signTypedData_v4').length, 2);
  },
);

t.test('a wallet whose owner refuses pays nothing, and one without an account is told apart', async (t) => {
  const { address } = privateKeyToAccount(generatePrivateKey());
  const refusing = {
    request: async ({ method }: { method: string }) => {
      if (method === 'eth_requestAccounts') return [address];
      if (method === 'eth_chainId') return '0x2105';
      throw Object.assign(new Error('the person said no'), { code: 4001 });
    },
  };
  const farthing = new Farthing({ baseUrl: url, signer: refusing });
  await t.rejects(farthing.search('gull'), { code: 'payment_declined', detail: /Nothing was paid/ });
  t.same(farthing.spending, { spentUsd: '0', heldUsd: '0', leftUsd: null });
  const locked = { request: async () => [] };
  await t.rejects(new Farthing({ baseUrl: url, signer: locked }).search('gull'), { code: 'wallet_missing' });
  const elsewhere = {
    request: async ({ method }: { method: string }) => {
      if (method === 'eth_requestAccounts') return [address];
      if (method === 'eth_chainId') return '0x1';
      throw Object.assign(new Error('no such chain'), { code: 4902 });
    },
  };
  const away = new Farthing({ baseUrl: url, signer: elsewhere });
  await t.rejects(away.search('gull'), { code: 'payment_declined', detail: /Add the chain 8453/ });
});

t.test('a wallet’s key appears in no output, no error and no inspectable object', async (t) => {
  const key = generatePrivateKey();
  const said: string[] = [];
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    const former = console[name];
    console[name] = (...values: unknown[]) => void said.push(inspect(values, DEEP));
    t.teardown(() => {
      console[name] = former;
    });
  }
  const payments: object[] = [];
  const farthing = new Farthing({
    baseUrl: url,
    account: privateKeyToAccount(key),
    maxPriceUsd: '0.03',
    onPayment: (payment) => void payments.push(payment),
  });
  await farthing.ingest(new Blob(['A tern.']));
  const workspace = await farthing.workspaces.create({ ttlMinutes: 15 });
  const failures = [
    await failure(farthing.workspaces.create({ ttlMinutes: 600 })),
    await failure(farthing.workspaces.create({ ttlMinutes: 15, maxPriceUsd: '0.01' })),
    await failure(farthing.search({ query: 'x', k: 5000 })),
    await failure(farthing.ingest('/no/such/file')),
  ];
  t.match(failures, [
    { code: 'price_over_limit' },
    { code: 'price_over_limit' },
    { code: 'field_invalid' },
    { code: 'source_unreadable' },
  ]);
  for (const thing of [farthing, workspace, payments, failures, said]) {
    t.notOk(inspect(thing, DEEP).includes(key.slice(2)));
    t.notOk(JSON.stringify(thing).includes(key.slice(2)));
  }
});

const DEEP = { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: Number.POSITIVE_INFINITY };

async function failure(work: Promise<unknown>): Promise<FarthingError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FarthingError)) throw new Error('it did not fail as it should');
  return error;
}
