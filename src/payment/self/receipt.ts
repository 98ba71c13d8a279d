import { formatEther } from 'viem';
import type { Hex } from '../payment.ts';

/** The fields that we read of our own transactions' receipts; fees as nodes of Base give them. */
export interface Receipt {
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly from: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice?: Hex;
  /** OP Stack alone: fee for the data on Ethereum, beside the gas. */
  readonly l1Fee?: Hex;
}

/** Wei that a transaction took from its sender, decimal; undefined where the node does not say. */
export function gasWeiOf({ gasUsed, effectiveGasPrice, l1Fee = '0x0' }: Receipt): string | undefined {
  if (effectiveGasPrice === undefined) return undefined;
  return (BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee)).toString();
}

/** Decimal string in ETH without trailing zeros: "800000000000" → "0.0000008". */
export function formatEth(wei: string): string {
  return formatEther(BigInt(wei));
}
