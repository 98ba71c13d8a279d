import { BASE_USDC } from '../../../../src/payment/asset.ts';
import { TOPICS } from '../../../../src/payment/facilitator/rpc-witness.ts';
import type { Payment } from '../../../../src/payment/payment.ts';
import { serveRpc } from '../../rig/rpc-server.ts';
import { type OutsideLedger, transactionOf } from './outside-ledger.ts';

const hex = (number: bigint | number) => `0x${number.toString(16)}`;
const word = (value: string) => `0x${value.slice(2).toLowerCase().padStart(64, '0')}`;
/** `authorizationState(address,bytes32)`. */
const STATE_CALL = '0xe94a0102';
const BALANCE = 10n ** 12n;

/** A fake node, of a chain that has what the ledger has moved and one block. */
export function serveFakeNode({ moved }: OutsideLedger): Promise<{ readonly url: string; close(): void }> {
  const useOf = ({ payer, nonce }: Payment) => ({
    address: BASE_USDC.displayedAddress,
    topics: [TOPICS.authorizationUsed, word(payer), nonce],
    data: '0x',
    logIndex: '0x1',
    transactionHash: transactionOf(nonce),
  });
  const transferOf = (payment: Payment) => ({
    ...useOf(payment),
    topics: [TOPICS.transfer, word(payment.payer), word(payment.payTo)],
    data: word(hex(payment.value)),
    logIndex: '0x2',
  });
  const logged = (nonce: string) => {
    const payment = moved.get(nonce);
    return payment ? [useOf(payment)] : [];
  };
  return serveRpc((method, [asked]) => {
    switch (method) {
      case 'eth_chainId':
        return { result: hex(BASE_USDC.chainId) };
      case 'eth_blockNumber':
        return { result: '0x1' };
      case 'eth_getBlockByNumber':
        return { result: { number: '0x1', timestamp: hex(Math.floor(Date.now() / 1000)) } };
      case 'eth_getCode':
        return { result: '0x' };
      case 'eth_call':
        if (!asked.data!.startsWith(STATE_CALL)) return { result: hex(BALANCE) };
        return { result: hex(Number(moved.has(`0x${asked.data!.slice(-64)}`))) };
      case 'eth_getLogs':
        return { result: logged((asked.topics as unknown as readonly string[])[2]!) };
      case 'eth_getTransactionReceipt': {
        const payment = [...moved.values()].find(({ nonce }) => transactionOf(nonce) === String(asked));
        return { result: payment ? { logs: [useOf(payment), transferOf(payment)] } : null };
      }
      default:
        return { error: { code: -32601, message: `no ${method}` } };
    }
  });
}
