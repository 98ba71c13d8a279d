import { formatEther } from 'viem';
import type { Asset } from '../asset.ts';
import { isUse, type Log, TOPICS } from '../facilitator/rpc-witness.ts';
import type { Hex, Payment } from '../payment.ts';

/** The fields that we read of our own transactions' receipts; fees as nodes of Base give them. */
export interface Receipt {
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly from: Hex;
  readonly gasUsed: Hex;
  readonly logs: readonly Log[];
  readonly effectiveGasPrice?: Hex;
  /** OP Stack alone: fee for the data on Ethereum, beside the gas. */
  readonly l1Fee?: Hex;
}

/**
 * Wei that each payment of a transaction took from its sender, rounded up, decimal; undefined where the node does not say. Those that it
 * made share it.
 */
export function gasWeiOf(receipt: Receipt, { address }: Asset): string | undefined {
  const { gasUsed, effectiveGasPrice, l1Fee = '0x0', logs } = receipt;
  if (effectiveGasPrice === undefined) return undefined;
  const wei = BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee);
  const made = logs.filter(
    (log) => log.address.toLowerCase() === address && log.topics[0] === TOPICS.authorizationUsed,
  ).length;
  const share = BigInt(Math.max(1, made));
  return ((wei + share - 1n) / share).toString();
}

/** Whether a transaction used the payment's authorization for what was signed: the coin's code makes the transfer or is reverted. */
export function isMadeIn({ logs }: Receipt, payment: Payment): boolean {
  return logs.some((log) => log.topics[0] === TOPICS.authorizationUsed && isUse(payment)(log));
}

/** Decimal string in ETH without trailing zeros: "800000000000" → "0.0000008". */
export function formatEth(wei: string): string {
  return formatEther(BigInt(wei));
}
