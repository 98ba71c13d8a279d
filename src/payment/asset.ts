import type { Address } from '../domain/address.ts';
import type { USD_DECIMALS } from '../domain/money.ts';

/** A dollar coin on one network: a token with EIP-3009 (`transferWithAuthorization`). */
export interface Asset {
  readonly symbol: string;
  /** CAIP-2 identifier, as x402 v2 writes it. */
  readonly network: `eip155:${number}`;
  /** Name of the same network in x402 v1. */
  readonly networkNameV1: string;
  readonly chainId: number;
  /** Lower case: addresses are compared by value. */
  readonly address: Address;
  /** The same with its checksum (EIP-55), as clients expect to read it. */
  readonly displayedAddress: Address;
  /** EIP-712 domain of the token: clients sign with these, and a wrong one makes every signature wrong. */
  readonly name: string;
  readonly version: string;
  /** As prices and books have: one unit of the coin is a millionth of a dollar in both. */
  readonly decimals: typeof USD_DECIMALS;
}

/** Address: developers.circle.com/stablecoins/usdc-contract-addresses. */
export const BASE_USDC: Asset = {
  symbol: 'USDC',
  network: 'eip155:8453',
  networkNameV1: 'base',
  chainId: 8453,
  address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  displayedAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  name: 'USD Coin',
  version: '2',
  decimals: 6,
};

/**
 * The coins that are asked for, the preferred one first. `PAY_TO` receives all of them: it must be able to on each network. A coin
 * stays here as long as the books of any server hold payments in it.
 */
export const ASSETS: readonly Asset[] = [BASE_USDC];

/** True for either name of the asset's network. */
export function isNetworkOf({ network, networkNameV1 }: Asset, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === network || lower === networkNameV1;
}
