/** Fees of a transaction (EIP-1559), in wei for a unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/**
 * Fees by which a transaction is mined soon, and within the next six blocks even if all of them are full: the base fee grows by an
 * eighth at most from block to block (EIP-1559).
 * @param feeMax for a unit of gas
 * @returns undefined when the network asks for more than `feeMax` already
 */
export function feesFor(baseFee: bigint, tip: bigint, feeMax: bigint): Fees | undefined {
  if (baseFee > feeMax) return undefined;
  return limited(2n * baseFee + tip, tip, feeMax);
}

/**
 * Fees of a transaction that replaces one with the same account nonce: nodes take it only if both are at least a tenth higher.
 * @returns undefined when that is over `feeMax`
 */
export function replacementFees(former: Fees, wanted: Fees, feeMax: bigint): Fees | undefined {
  const maxFee = larger(wanted.maxFeePerGas, raised(former.maxFeePerGas));
  const tip = larger(wanted.maxPriorityFeePerGas, raised(former.maxPriorityFeePerGas));
  return larger(maxFee, tip) > feeMax ? undefined : limited(maxFee, tip, feeMax);
}

function limited(maxFee: bigint, tip: bigint, feeMax: bigint): Fees {
  const maxFeePerGas = smaller(maxFee, feeMax);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) };
}

/** By an eighth, rounded up: a tenth of some nodes, and what others want beyond it. */
function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
