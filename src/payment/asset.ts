import type { Address } from '../domain/payment.ts';

/** The token that prices are asked in, and the chain it lives on. */
export interface Asset {
  /** CAIP-2 identifier, as the contract and x402 v2 write it. */
  readonly network: `eip155:${number}`;
  /** Name of the same network in x402 v1. */
  readonly networkNameV1: string;
  readonly chainId: number;
  readonly address: Address;
  /** EIP-712 domain of the token: clients sign with these, a wrong one makes every signature wrong. */
  readonly name: string;
  readonly version: string;
  readonly decimals: number;
}

/** Native USDC on Base. Address: developers.circle.com/stablecoins/usdc-contract-addresses. */
export const BASE_USDC: Asset = {
  network: 'eip155:8453',
  networkNameV1: 'base',
  chainId: 8453,
  address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  name: 'USD Coin',
  version: '2',
  decimals: 6,
};

/** The address as clients expect to read it (EIP-55); addresses are compared by value, in lower case. */
const DISPLAYED: Readonly<Record<string, string>> = {
  [BASE_USDC.address]: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
};

export function displayedAddress(address: Address): string {
  return DISPLAYED[address] ?? address;
}

/** The network's one identity for any of its names; undefined for another network. */
export function isNetworkOf(asset: Asset, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === asset.network || lower === asset.networkNameV1;
}
