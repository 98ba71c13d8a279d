import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { LIES, type Lie } from './lies.ts';
import { encode, paymentOf } from './payments.ts';

/**
 * How a facilitator can go wrong. `drops_after` does its work and then closes the connection without an answer; `timed_out_after` and
 * `pending_after` do it and answer as the schemes of `@x402/evm` 2.27 do when the receipt of a transaction does not come, v1's with the
 * message of viem, v2's when it can't keep the transaction for a retry, either. `used_after` sends the transfer twice itself
 * and answers what became of the second. `reverted` moves nothing. `simulation_500` answers as x402-rs does where the simulation of a transfer
 * is reverted. `busy_17` wants to be left alone for 17 s. `simulation_failed` and `gas_unknown`: its node is
 * behind, and it sends nothing.
 */
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
  | 'timed_out_after'
  | 'pending_after'
  | 'used_after'
  | 'reverted'
  | 'redirect'
  | 'busy_17'
  | 'unexpected_error'
  | 'simulation_500'
  | 'simulation_failed'
  | 'gas_unknown'
  | Lie;

export interface FacilitatorServer {
  readonly url: string;
  /** Set to make the next calls of a path go wrong. */
  readonly behaviour: {
    supported: 'none' | 'error_500';
    /** `/supported` waits for it. */
    held?: Promise<void>;
    /** Networks of the kinds, by version of the protocol; absent: Base. */
    networks?: readonly [v1: string, v2: string];
    verify: Misbehaviour;
    settle: Misbehaviour;
    /** Faults of some payments alone. */
    of?: (payment: Payment) => Misbehaviour | undefined;
  };
  /** Bodies that arrived, by path. */
  readonly seen: { verify: Sent[]; settle: Sent[] };
  /** Emits the path of every call. */
  readonly arrivals: EventEmitter;
  /** `Authorization` of every request, in order. */
  readonly tokens: (string | undefined)[];
  close(): Promise<void>;
}

export interface Sent {
  readonly x402Version: number;
  readonly paymentPayload: { readonly x402Version: number; readonly network?: string };
  readonly paymentRequirements: Readonly<Record<string, unknown>>;
}

const HASH = `0x${'a'.repeat(64)}`;
const FAILED = {
  timed_out_after: {
    errorReason: `Timed out while waiting for transaction with hash "${HASH}" to be confirmed.`,
    transaction: '',
  },
  pending_after: {
    errorReason: 'invalid_exact_evm_transaction_failed',
    errorMessage: 'settlement_pending, but failed to persist for retry: no space',
    transaction: HASH,
  },
  used_after: { errorReason: 'invalid_exact_evm_nonce_already_used', transaction: '' },
  simulation_failed: {
    errorReason: 'invalid_exact_evm_transaction_simulation_failed',
    errorMessage: 'unable to estimate gas',
    transaction: '',
  },
  gas_unknown: { errorReason: 'unable to estimate gas', transaction: '' },
  reverted: { errorReason: 'invalid_exact_evm_transaction_failed', transaction: HASH },
} as const;

/** Reasons of the local ledger in the words of `@x402/evm`. */
const WORDS: Readonly<Record<string, string>> = {
  invalid_signature: 'invalid_exact_evm_signature',
  unsupported_signature: 'invalid_exact_evm_signature',
  authorization_already_used: 'invalid_exact_evm_nonce_already_used',
  amount_mismatch: 'invalid_exact_evm_payload_authorization_value_mismatch',
  authorization_expired: 'invalid_exact_evm_payload_authorization_valid_before',
  authorization_not_yet_valid: 'invalid_exact_evm_payload_authorization_valid_after',
  insufficient_funds: 'invalid_exact_evm_insufficient_balance',
};

/** A facilitator over HTTP on loopback, real but for its ledger, that misbehaves when it is told to. */
export async function serveFacilitator(
  ledger: Facilitator,
  versions: readonly number[] = [1, 2],
): Promise<FacilitatorServer> {
  const behaviour: FacilitatorServer['behaviour'] = { supported: 'none', verify: 'none', settle: 'none' };
  const seen: FacilitatorServer['seen'] = { verify: [], settle: [] };
  const tokens: (string | undefined)[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    tokens.push(request.headers.authorization);
    if (request.url === '/supported') {
      await behaviour.held;
      if (behaviour.supported === 'error_500') return reply(response, 500, { error: 'broken' });
      const kinds = versions.map((x402Version) => ({
        x402Version,
        scheme: 'exact',
        network: (behaviour.networks ?? ['base', 'eip155:8453'])[x402Version - 1],
      }));
      return reply(response, 200, { kinds, extensions: [], signers: {} });
    }
    const path = request.url === '/verify' ? 'verify' : 'settle';
    const sent = JSON.parse(await bodyOf(request)) as Sent;
    seen[path].push(sent);
    arrivals.emit(path);
    const payment = paymentOf({ xPayment: encode(sent.paymentPayload) });
    const how = behaviour.of?.(payment) ?? behaviour[path];
    if (how === 'drops_before') return void request.socket.destroy();
    if (how === 'silent') return;
    if (how === 'error_500') return reply(response, 500, { error: 'broken' });
    if (how === 'busy_17') return reply(response, 429, { error: 'slow down' }, { 'retry-after': '17' });
    if (how === 'garbage') return void response.end('<html>ok</html>');
    if (how === 'huge')
      return void response.end(`{"isValid":true,"success":true,"x":"${'x'.repeat(100_000)}"}`);
    if (how === 'redirect') return void response.writeHead(307, { location: '/elsewhere' }).end();
    if (how === 'simulation_500') {
      const invalidReason = 'contract_call_failed';
      return reply(response, 500, { isValid: false, invalidReason, success: false, payer: payment.payer });
    }
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
          : { isValid: false, invalidReason: WORDS[verification.reason], payer },
      );
    }
    if (how === 'reverted' || how === 'simulation_failed' || how === 'gas_unknown')
      return reply(response, 200, { success: false, ...FAILED[how], payer });
    const lie = how in LIES ? LIES[how as Lie] : undefined;
    if (lie?.unsettled) return reply(response, lie.status, lie.body ?? {}, lie.headers);
    const settlement = await ledger.settle(payment, terms);
    if (lie) return reply(response, lie.status, lie.body ?? {}, lie.headers);
    if (how === 'drops_after') return void request.socket.destroy();
    if (how === 'timed_out_after' || how === 'pending_after' || how === 'used_after')
      return reply(response, 200, { success: false, ...FAILED[how], network: 'base', payer });
    if (settlement.kind !== 'settled') {
      const errorReason =
        settlement.kind === 'refused'
          ? (WORDS[settlement.reason] ?? settlement.reason)
          : 'unexpected_settle_error';
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
    arrivals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
