import { encodeFunctionData, parseAbi, parseSignature } from 'viem';
import type { PaymentFault } from '../fault.ts';
import type { Hex, Payment } from '../payment.ts';
import { isOfContract } from '../signature.ts';

/** Both forms of EIP-3009's transfer, as USDC (FiatToken 2.2) has them. */
const ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** The call of the token that makes a payment: a plain signature in its three parts, which older tokens have alone, others whole. */
export function transferCall(payment: Payment): Hex {
  const { payer, payTo, value, validAfter, validBefore, nonce, signature } = payment;
  const transfer = [payer, payTo, value, validAfter, validBefore, nonce] as const;
  const functionName = 'transferWithAuthorization';
  if (isOfContract(payment))
    return encodeFunctionData({ abi: ABI, functionName, args: [...transfer, signature] });
  const { r, s, v, yParity } = parseSignature(signature);
  return encodeFunctionData({
    abi: ABI,
    functionName,
    args: [...transfer, Number(v ?? BigInt(yParity + 27)), r, s],
  });
}

/** Parts of USDC's messages (FiatToken 2.2), and our word for each. */
const REVERTS: readonly (readonly [RegExp, PaymentFault])[] = [
  [/used or canceled/i, 'authorization_already_used'],
  [/not yet valid/i, 'authorization_not_yet_valid'],
  [/expired/i, 'authorization_expired'],
  [/exceeds balance/i, 'insufficient_funds'],
  [/signature/i, 'invalid_signature'],
];

/** Why the token refused the transfer, from what the node told of the revert. The words of `@x402/evm` where we have none. */
export function revertReason(told: string): string {
  return (
    REVERTS.find(([words]) => words.test(told))?.[1] ?? 'invalid_exact_evm_transaction_simulation_failed'
  );
}
