import { randomBytes } from 'node:crypto';
import { authorizationTypes } from '@x402/evm';
import type { Hex, PrivateKeyAccount } from 'viem';
import type { Asset } from '../../src/payment/asset.ts';

/** An EIP-3009 authorization: this transfer, once, within this time. */
export interface Transfer {
  readonly from: Hex;
  readonly to: Hex;
  /** In the token's smallest unit. */
  readonly value: bigint;
  /** Seconds since the epoch. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** 32 bytes. */
  readonly nonce: Hex;
}

/** The token contract's EIP-712 domain. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Hex;
}

/** A signed transfer as payments carry it: numbers are decimal strings. */
export interface SignedTransfer {
  readonly signature: Hex;
  readonly authorization: {
    readonly from: Hex;
    readonly to: Hex;
    readonly value: string;
    readonly validAfter: string;
    readonly validBefore: string;
    readonly nonce: Hex;
  };
}

export function tokenDomain({ name, version, chainId, address }: Asset): TokenDomain {
  return { name, version, chainId, verifyingContract: address };
}

/** The typed data (EIP-712) that a wallet signs for a transfer. */
export function transferTypedData(domain: TokenDomain, message: Transfer) {
  return { domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization', message } as const;
}

/** Signs a transfer from the account; without other wishes it is good from now on for a minute, under a random nonce. */
export async function signTransfer(
  account: PrivateKeyAccount,
  domain: TokenDomain,
  transfer: Pick<Transfer, 'to' | 'value'> & Partial<Transfer>,
): Promise<SignedTransfer> {
  const message: Transfer = {
    from: account.address,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 60),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...transfer,
  };
  return {
    signature: await account.signTypedData(transferTypedData(domain, message)),
    authorization: authorizationOf(message),
  };
}

export function authorizationOf({ from, to, value, validAfter, validBefore, nonce }: Transfer) {
  return {
    from,
    to,
    value: `${value}`,
    validAfter: `${validAfter}`,
    validBefore: `${validBefore}`,
    nonce,
  };
}

/** The transfer that an authorization on the wire names. */
export function transferOf(authorization: SignedTransfer['authorization']): Transfer {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return {
    from,
    to,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  };
}
