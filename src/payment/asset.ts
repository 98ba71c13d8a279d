import type { Address } from '@farthing/protocol/address';
import { PREPAID_CONTRACT, type USD_DECIMALS } from '@farthing/protocol/money';

/** A dollar coin on one network: a token with EIP-3009 (`transferWithAuthorization`). */
export interface Asset {
  readonly symbol: string;
  /** CAIP-2 identifier, as x402 v2 writes it. */
  readonly network: `eip155:${number}`;
  /** Name of the network for people. */
  readonly title: string;
  /** Its coins are given away. */
  readonly isTestnet: boolean;
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
  /** As in prices and ledgers: one unit of the coin is a millionth of a dollar in both. */
  readonly decimals: typeof USD_DECIMALS;
  /** Prepaid money: it exists in this server's store alone, and on no chain (docs/payments.md, "Prepaid"). */
  readonly isPrepaid?: true;
}

/** Fields of Circle's USDC that are the same on all networks. Addresses: developers.circle.com/stablecoins/usdc-contract-addresses. */
const USDC = { symbol: 'USDC', version: '2', decimals: 6 } as const;

export const BASE_USDC: Asset = {
  ...USDC,
  network: 'eip155:8453',
  title: 'Base',
  isTestnet: false,
  networkNameV1: 'base',
  chainId: 8453,
  address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  displayedAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  name: 'USD Coin',
};

/** EIP-712 name and version: the table of default assets of `@x402/evm` 2.27. The name is not that of Base. */
export const BASE_SEPOLIA_USDC: Asset = {
  ...USDC,
  network: 'eip155:84532',
  title: 'Base Sepolia',
  isTestnet: true,
  networkNameV1: 'base-sepolia',
  chainId: 84532,
  address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  displayedAddress: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  name: 'USDC',
};

/** Prepaid money is spent by the same signed message as USDC. */
const PREPAID = {
  symbol: 'prepaid USDC',
  address: PREPAID_CONTRACT.toLowerCase() as Address,
  displayedAddress: PREPAID_CONTRACT,
  name: 'Prepaid USDC',
  version: '1',
  isPrepaid: true,
} as const;

/** The supported coins. A coin stays here as long as any server's store holds payments in it. */
export const ASSETS: readonly Asset[] = [
  BASE_USDC,
  BASE_SEPOLIA_USDC,
  { ...BASE_USDC, ...PREPAID },
  { ...BASE_SEPOLIA_USDC, ...PREPAID },
];

/** The coin that is asked for on a network. `PAY_TO` receives it there. @throws Error */
export function assetOn(network: Asset['network']): Asset {
  const found = ASSETS.find((asset) => asset.network === network && !asset.isPrepaid);
  if (!found) throw new Error(`there is no coin on ${network}`);
  return found;
}

/** Prepaid money of the coin on a network. */
export function prepaidOn(network: Asset['network']): Asset {
  return ASSETS.find((asset) => asset.network === network && asset.isPrepaid)!;
}

/** True for either name of the asset's network. */
export function isNetworkOf({ network, networkNameV1 }: Asset, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === network || lower === networkNameV1;
}
