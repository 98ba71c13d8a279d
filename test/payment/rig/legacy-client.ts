import type { PrivateKeyAccount } from 'viem/accounts';
import { ASSETS, isNetworkOf } from '../../../src/payment/asset.ts';
import { signTransfer, tokenDomain } from '../../rig/sign-transfer.ts';

/** A v1 payment as the legacy clients make it: from the body of the 402. `more`: members that the payment carries besides. */
export async function payV1(
  account: PrivateKeyAccount,
  url: string,
  init: RequestInit,
  more: object = {},
): Promise<Response> {
  const challenge = (await (await fetch(url, init)).json()) as {
    accepts: {
      network: string;
      payTo: `0x${string}`;
      maxAmountRequired: string;
      extra: { name: string; version: string };
    }[];
  };
  const option = challenge.accepts[0]!;
  const payload = await signTransfer(
    account,
    { ...tokenDomain(ASSETS.find((asset) => isNetworkOf(asset, option.network))!), ...option.extra },
    {
      to: option.payTo,
      value: BigInt(option.maxAmountRequired),
      validAfter: BigInt(Math.floor(Date.now() / 1000) - 600),
    },
  );
  const payment = { x402Version: 1, scheme: 'exact', network: option.network, payload, ...more };
  return fetch(url, {
    ...init,
    headers: { ...init.headers, 'X-PAYMENT': Buffer.from(JSON.stringify(payment)).toString('base64') },
  });
}
