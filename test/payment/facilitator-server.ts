import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Facilitator } from '../../src/payment/facilitator.ts';
import { parsePaymentHeader } from '../../src/payment/payment-header.ts';
import { encode } from './fixture.ts';

/** How a facilitator can go wrong; `drops_after` does its work and then closes the connection without an answer. */
export type Misbehaviour =
  | 'none'
  | 'silent'
  | 'error_500'
  | 'garbage'
  | 'huge'
  | 'other_payer'
  | 'no_transaction'
  | 'drops_before'
  | 'drops_after'
  | 'redirect'
  | 'unexpected_error';

export interface FacilitatorServer {
  readonly url: string;
  /** Set to make the next calls of a path go wrong. */
  readonly behaviour: { verify: Misbehaviour; settle: Misbehaviour };
  /** Bodies that arrived, by path. */
  readonly seen: { verify: Sent[]; settle: Sent[] };
  /** `Authorization` of every request, in order. */
  readonly tokens: (string | undefined)[];
  close(): Promise<void>;
}

export interface Sent {
  readonly x402Version: number;
  readonly paymentPayload: { readonly x402Version: number; readonly network?: string };
  readonly paymentRequirements: Readonly<Record<string, unknown>>;
}

/** A facilitator over HTTP on loopback, real but for its ledger, that misbehaves when it is told to. */
export async function serveFacilitator(
  ledger: Facilitator,
  versions: readonly number[] = [1, 2],
): Promise<FacilitatorServer> {
  const behaviour: FacilitatorServer['behaviour'] = { verify: 'none', settle: 'none' };
  const seen: FacilitatorServer['seen'] = { verify: [], settle: [] };
  const tokens: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    tokens.push(request.headers.authorization);
    if (request.url === '/supported') {
      const kinds = versions.map((x402Version) => ({
        x402Version,
        scheme: 'exact',
        network: x402Version === 1 ? 'base' : 'eip155:8453',
      }));
      return reply(response, 200, { kinds, extensions: [], signers: {} });
    }
    const path = request.url === '/verify' ? 'verify' : 'settle';
    const sent = JSON.parse(await bodyOf(request)) as Sent;
    seen[path].push(sent);
    const how = behaviour[path];
    if (how === 'drops_before') return void request.socket.destroy();
    if (how === 'silent') return;
    if (how === 'error_500') return reply(response, 500, { error: 'broken' });
    if (how === 'garbage') return void response.end('<html>ok</html>');
    if (how === 'huge')
      return void response.end(`{"isValid":true,"success":true,"x":"${'x'.repeat(100_000)}"}`);
    if (how === 'redirect') return void response.writeHead(307, { location: '/elsewhere' }).end();
    if (how === 'unexpected_error') {
      return reply(response, 200, {
        isValid: false,
        invalidReason: 'unexpected_verify_error',
        success: false,
        errorReason: 'unexpected_settle_error',
        transaction: '',
        network: '',
      });
    }
    const { payment } = parsePaymentHeader({ xPayment: encode(sent.paymentPayload) })!;
    const amount = BigInt(
      String(sent.paymentRequirements.amount ?? sent.paymentRequirements.maxAmountRequired),
    );
    const terms = { amount, resource: '', description: '' };
    const payer = how === 'other_payer' ? '0x1111111111111111111111111111111111111111' : payment.payer;
    if (path === 'verify') {
      const verification = await ledger.verify(payment, terms);
      return reply(
        response,
        200,
        verification.valid
          ? { isValid: true, payer }
          : { isValid: false, invalidReason: verification.reason, payer },
      );
    }
    const settlement = await ledger.settle(payment, terms);
    if (how === 'drops_after') return void request.socket.destroy();
    if (settlement.kind !== 'settled') {
      const errorReason = settlement.kind === 'refused' ? settlement.reason : 'unexpected_settle_error';
      return reply(response, 200, { success: false, errorReason, transaction: '', network: 'base', payer });
    }
    const transaction = how === 'no_transaction' ? '' : settlement.transaction;
    return reply(response, 200, { success: true, transaction, network: 'eip155:8453', payer });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour,
    seen,
    tokens,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
