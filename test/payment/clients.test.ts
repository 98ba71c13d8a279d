import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch';
import t from 'tap';
import type { Address } from '../../src/domain/address.ts';
import type { Teardown } from '../rig/temporary-folder.ts';
import { chargesOf, type GateRig, openRig } from './rig/gate-rig.ts';
import { addressOf, sign, v1Header, wallet } from './rig/payments.ts';
import { ask } from './rig/requests.ts';

/** The gate behind a bare HTTP server: what the real server does, without its routes. */
async function serve(t: Teardown, rig: GateRig): Promise<string> {
  const server = createServer(async (request, response) => {
    const header = (name: string) => request.headers[name] as string | undefined;
    const answer = await rig.gate.handle(
      ask({
        xPayment: header('x-payment'),
        paymentSignature: header('payment-signature'),
        idempotencyKey: header('idempotency-key'),
      }),
    );
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(answer.body), () => answer.delivered(true));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent/v1/search`;
}

for (const [bodyNetworks, network] of [
  ['v2', 'eip155:8453'],
  ['v1', 'base'],
] as const) {
  t.test(`the unmodified v2 client pays, with "${network}" in the body`, async (t) => {
    const rig = openRig(t, { bodyNetworks });
    const account = wallet();
    const client = new x402Client().register('eip155:8453', new ExactEvmScheme(account));
    const paying = wrapFetchWithPayment(fetch, client);
    const response = await paying(await serve(t, rig), { method: 'POST', body: '{"query":"x"}' });
    t.equal(response.status, 200);
    t.match(await response.json(), { charged: true });
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response')!);
    t.match(receipt, { success: true, network: 'eip155:8453', payer: addressOf(account) });
    t.equal(chargesOf(rig), 1);
  });

  t.test(`a v1 client that reads the body pays, with "${network}" in it`, async (t) => {
    const rig = openRig(t, { bodyNetworks });
    const url = await serve(t, rig);
    const account = wallet();
    const required = (await (await fetch(url, { method: 'POST' })).json()) as {
      accepts: { maxAmountRequired: string; network: string; payTo: Address; asset: Address }[];
    };
    const { maxAmountRequired, payTo, asset, ...offer } = required.accepts[0]!;
    const payload = await sign(account, {
      value: BigInt(maxAmountRequired),
      to: payTo,
      domain: { verifyingContract: asset },
    });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'X-PAYMENT': v1Header(payload, offer) },
    });
    t.equal(response.status, 200);
    const receipt = JSON.parse(
      Buffer.from(response.headers.get('x-payment-response')!, 'base64').toString(),
    ) as object;
    t.match(receipt, {
      success: true,
      network,
      payer: addressOf(account),
      transaction: /^0x[0-9a-f]{64}$/,
    });
    t.equal(chargesOf(rig), 1);
  });
}
