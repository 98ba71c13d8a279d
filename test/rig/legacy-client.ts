import { type PrivateKeyAccount, toHex } from 'viem';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

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
  const now = Math.floor(Date.now() / 1000);
  const message = {
    from: account.address,
    to: option.payTo,
    value: BigInt(option.maxAmountRequired),
    validAfter: BigInt(now - 600),
    validBefore: BigInt(now + 60),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  } as const;
  const signature = await account.signTypedData({
    domain: { ...option.extra, chainId: 8453, verifyingContract: USDC },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const authorization = Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, String(value)]),
  );
  const payment = {
    x402Version: 1,
    scheme: 'exact',
    network: option.network,
    payload: { signature, authorization },
    ...more,
  };
  return fetch(url, {
    ...init,
    headers: { ...init.headers, 'X-PAYMENT': Buffer.from(JSON.stringify(payment)).toString('base64') },
  });
}
