import type { Address } from '@farthing/protocol/address';
import {
  encodeFunctionData,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  parseSignature,
} from 'viem';
import type { PaymentFault } from '../fault.ts';
import type { Hex, Payment } from '../payment.ts';
import { isOfContract } from '../signature.ts';

/** Both forms of EIP-3009's transfer, as USDC (FiatToken 2.2) has them. */
const ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

const MULTICALL_ABI = parseAbi([
  'function tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls)',
]);
/** Multicall3, on every chain at this address: github.com/mds1/multicall3. */
export const MULTICALL: Address = '0xca11bde05977b3631167028862be2a173976ca11';

/** Target and data of a transaction's call. */
export interface Call {
  readonly to: Hex;
  readonly data: Hex;
}

/** True where the payer's contract may not be there yet: its signature says how to deploy it (ERC-6492). */
export function mayDeploy({ signature }: Payment): boolean {
  return isErc6492Signature(signature);
}

/**
 * The call that makes a payment: of the token, or, for a contract wallet that is not deployed yet (ERC-6492), of its factory and the
 * token in one transaction, of which both or none happen. @throws Error for a signature that cannot be read
 */
export function transferCall(payment: Payment, { deploys = false } = {}): Call {
  const token = payment.asset.address;
  if (!mayDeploy(payment)) return { to: token, data: transferData(payment) };
  const { address, data, signature } = parseErc6492Signature(payment.signature);
  const transfer = transferData({ ...payment, signature });
  if (!deploys || address === undefined || data === undefined) return { to: token, data: transfer };
  const calls = [
    { target: address, callData: data },
    { target: token, callData: transfer },
  ];
  return {
    to: MULTICALL,
    data: encodeFunctionData({ abi: MULTICALL_ABI, functionName: 'tryAggregate', args: [true, calls] }),
  };
}

/** Makes several payments in one transaction. A call that fails undoes itself alone, unless it uses up the gas of all. */
export function togetherCall(calls: readonly Call[]): Call {
  const each = calls.map(({ to, data }) => ({ target: to, callData: data }));
  return {
    to: MULTICALL,
    data: encodeFunctionData({ abi: MULTICALL_ABI, functionName: 'tryAggregate', args: [false, each] }),
  };
}

/** A plain signature goes in its three parts, which older tokens have alone; others whole. */
function transferData(payment: Payment): Hex {
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

/** Why the token refused the transfer, from the node's text of the revert. The words of `@x402/evm` where we have none. */
export function revertReason(told: string): string {
  return (
    REVERTS.find(([words]) => words.test(told))?.[1] ?? 'invalid_exact_evm_transaction_simulation_failed'
  );
}
