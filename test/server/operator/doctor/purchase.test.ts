import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { purchase } from '../../../../src/server/operator/doctor/purchase.ts';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { noChain } from '../../../payment/chain/chain.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { startTestServer } from '../../../rig/test-server.ts';
import { startPaidServer } from '../../start/payment/paid-server.ts';

/** `farthing admin doctor --pay`: a purchase from the running server, and its proof on the chain. */

function walletIn(folder: string) {
  const private_key = generatePrivateKey();
  const [file, address] = [join(folder, 'wallet.json'), privateKeyToAddress(private_key)];
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify({ address, private_key }), { mode: 0o600 });
  return { file, address };
}

const buy = (settings: Readonly<Record<string, string>>, wallet: string) =>
  purchase(readConfig(environmentOf(settings)), { FARTHING_WALLET: wallet });

async function paidServer(t: Test, own: Readonly<Record<string, string>>) {
  const { chain, facilitator, merchant, server } = await startPaidServer(t, own);
  const settings = {
    FACILITATOR: facilitator.url,
    PAY_TO: merchant,
    RPC_URL: chain.url,
    PORT: String(server.port),
  };
  return { chain, facilitator, merchant, settings };
}

const THROUGH: readonly Readonly<Record<string, string>>[] = [{}, { FACILITATOR: 'self' }];
for (const own of THROUGH)
  t.test(
    `a purchase is shown with its proof ${JSON.stringify(own)}`,
    { skip: noChain ?? false },
    async (t) => {
      const { chain, facilitator, merchant, settings } = await paidServer(t, own);
      const { file, address } = walletIn(join(t.testdirName, 'wallet'));
      const [none] = await buy(settings, `${file}.absent`);
      t.match(none, { state: 'problem', found: /there is no wallet/, remedy: /wallet new.*USDC on Base/ });
      const [poor] = await buy(settings, file);
      t.match(poor, {
        state: 'problem',
        found: `the wallet ${address} has less than 0.0105 USD in USDC on Base`,
        remedy: `Send ${address} 0.0105 USD in USDC on Base.`,
      });
      await chain.mint(address, 100_000n);
      const found = await buy(settings, file);
      t.match(found, [
        { check: 'purchase', state: 'ok', found: /paid 0\.0105 USD for a workspace of http.* in [\d.]+ s/ },
        {
          check: 'proof of the purchase',
          state: 'ok',
          found: new RegExp(
            `block \\d+ of Base has 0\\.0105 USDC from ${address} to ${merchant}, transaction 0x[0-9a-f]{64}`,
          ),
        },
      ]);
      t.equal(await chain.balance(merchant), 10_500n);
      const [, unproved] = await buy({ ...settings, RPC_URL: '' }, file);
      t.match(unproved, { state: 'warning', found: /nobody has looked at/, remedy: /FARTHING_RPC_URL/ });
      if ('FACILITATOR' in own) return;
      await facilitator.behave('never');
      const [, lied] = await buy(settings, file);
      t.match(lied, { state: 'problem', found: /is not on the chain/, remedy: /name another one/ });
    },
  );

t.test('play money, other prices, and a server that is away', async (t) => {
  const server = await startTestServer(t);
  const { file } = walletIn(join(t.testdirName, 'wallet'));
  const settings = { PORT: String(server.port) };
  t.match(await buy(settings, file), [{ state: 'ok', found: /in play money/ }]);
  t.match(await buy({ ...settings, WORKSPACE_BASE_USD: '0.001' }, file), [
    { state: 'problem', remedy: /other prices/ },
  ]);
  await server.stop();
  t.match(await buy(settings, file), [
    { state: 'problem', found: /no server answers at http:\/\/127/, remedy: /make run/ },
  ]);
});
