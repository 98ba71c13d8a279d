import t from 'tap';
import { type Asset, BASE_USDC } from '../../../src/payment/asset.ts';
import { type SignedTransfer, signTransfer, tokenDomain } from '../../rig/sign-transfer.ts';
import { forgetful, type GateRig, openRig } from '../rig/gate-rig.ts';
import { PAY_TO, PRICE, receiptOf, v1Header, v2Header, wallet } from '../rig/payments.ts';
import { buy } from '../rig/requests.ts';

/** Several coins at once: two on one network, and one on another. */

const SECOND: Asset = {
  ...BASE_USDC,
  symbol: 'TEST',
  address: '0x00000000000000000000000000000000000c0142',
  displayedAddress: '0x00000000000000000000000000000000000C0142',
  name: 'Test Dollar',
  version: '1',
};
const ELSEWHERE: Asset = {
  ...BASE_USDC,
  network: 'eip155:137',
  networkNameV1: 'polygon',
  chainId: 137,
  address: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
  displayedAddress: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
};
const ASSETS = [BASE_USDC, SECOND, ELSEWHERE];

const signIn = (asset: Asset, account = wallet(), nonce?: `0x${string}`): Promise<SignedTransfer> =>
  signTransfer(account, tokenDomain(asset), { to: PAY_TO, value: PRICE, ...(nonce && { nonce }) });
const naming = ({ network, address, name, version }: Asset) => ({
  accepted: { network, asset: address, extra: { name, version } },
});
const coinsOf = (rig: GateRig) =>
  [...rig.gate.journal.entries()].map(({ network, asset }) => `${network} ${asset}`);
const idOf = ({ network, address }: Asset) => `${network} ${address}`;

t.test('a 402 asks for each coin, the preferred one first', async (t) => {
  for (const bodyNetworks of ['v1', 'v2'] as const) {
    const { headers, body } = await buy(openRig(t, { assets: ASSETS, bodyNetworks }), {});
    const required = JSON.parse(Buffer.from(headers['PAYMENT-REQUIRED']!, 'base64').toString()) as object;
    t.match(required, {
      accepts: ASSETS.map(({ network, displayedAddress, name, version }) => ({
        network,
        asset: displayedAddress,
        amount: `${PRICE}`,
        extra: { name, version },
      })),
    });
    t.match(body, {
      accepts: ASSETS.map(({ network, networkNameV1, displayedAddress }) => ({
        network: bodyNetworks === 'v1' ? networkNameV1 : network,
        asset: displayedAddress,
      })),
    });
  }
});

t.test('a payment in any of them buys, and the books name its coin', async (t) => {
  const rig = openRig(t, { assets: ASSETS });
  for (const asset of ASSETS) {
    const answer = await buy(rig, { paymentSignature: v2Header(await signIn(asset), naming(asset)) });
    t.equal(answer.status, 200, asset.symbol);
    t.equal(receiptOf(answer)?.network, asset.network);
  }
  await rig.gate.close();
  t.same(coinsOf(rig), ASSETS.map(idOf));
});

t.test('a v1 payment does not name its coin: its signature tells', async (t) => {
  const rig = openRig(t, { assets: ASSETS });
  for (const asset of ASSETS) {
    const header = v1Header(await signIn(asset), { network: asset.networkNameV1 });
    const answer = await buy(rig, { xPayment: header });
    t.equal(answer.status, 200, asset.name);
    t.equal(receiptOf(answer)?.network, asset.networkNameV1);
  }
  await rig.gate.close();
  t.same(coinsOf(rig), ASSETS.map(idOf));
});

t.test('a payment is judged by the coin that it names', async (t) => {
  const rig = openRig(t, { assets: ASSETS });
  const errorOf = async (signed: Asset, named: Asset) => {
    const paymentSignature = v2Header(await signIn(signed), naming(named));
    return (await buy(rig, { paymentSignature })).body.error;
  };
  t.equal(await errorOf(SECOND, BASE_USDC), 'invalid_signature');
  t.equal(await errorOf(SECOND, { ...ELSEWHERE, address: SECOND.address }), 'wrong_asset');
  t.equal(await errorOf(SECOND, { ...SECOND, network: 'eip155:1' }), 'wrong_network');
  const one = openRig(t);
  const refused = await buy(one, { paymentSignature: v2Header(await signIn(SECOND), naming(SECOND)) });
  t.equal(refused.body.error, 'wrong_asset', 'where it is not asked for');
});

t.test('the same nonce in two coins is two payments', async (t) => {
  const transfers: string[] = [];
  const rig = openRig(t, {
    assets: ASSETS,
    facilitator: (local) => ({
      ...forgetful(local),
      verify: async () => ({ valid: true }),
      settle: async ({ asset, nonce }) => {
        transfers.push(`${asset.address}/${nonce}`);
        return { kind: 'settled', transaction: `0x${'1'.repeat(64)}` };
      },
    }),
  });
  const account = wallet();
  const nonce = `0x${'7'.repeat(64)}` as const;
  for (const asset of [BASE_USDC, SECOND]) {
    const paymentSignature = v2Header(await signIn(asset, account, nonce), naming(asset));
    t.equal((await buy(rig, { paymentSignature, hash: asset.address })).status, 200);
    t.equal((await buy(rig, { paymentSignature })).body.error, 'authorization_already_used');
  }
  t.equal(transfers.length, 2);
});
