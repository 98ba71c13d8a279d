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
  readonly gas: NetworkGas;
  /** Prepaid money: it exists in this server's store alone, and on no chain (docs/payments.md, "Prepaid"). */
  readonly isPrepaid?: true;
  /** Money in the escrow contract of x402's `batch-settlement`, which is its address: vouchers are signed in that contract's domain. */
  readonly isEscrow?: true;
}

/** What a network's transactions are paid in. */
export interface NetworkGas {
  readonly coin: string;
  /** Most that this server pays for a unit of gas where no setting says otherwise, in gwei. */
  readonly feeGweiMax: number;
  /** Chainlink's contract of the coin's price in dollars on this network. Absent on testnets, whose coins cost nothing. */
  readonly usdFeed?: Address;
  /** Dollars between which an answer of the feed is believed; without one, the coin counts as that dear. */
  readonly usdBounds: readonly [min: number, max: number];
  /** OP Stack: the contract that says what a transaction's data costs on Ethereum, beside its gas. */
  readonly dataFeeOracle?: Address;
}

/** Chainlink's feeds: docs.chain.link/data-feeds/price-feeds/addresses. */
const ETH = { coin: 'ETH', feeGweiMax: 0.1, usdBounds: [100, 10_000] } as const;
/** docs.optimism.io, GasPriceOracle: at one address on every chain of the OP Stack. */
const OP_STACK = { dataFeeOracle: '0x420000000000000000000000000000000000000f' } as const;

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
  gas: { ...ETH, ...OP_STACK, usdFeed: '0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70' },
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
  gas: ETH,
};

/** Further networks: EIP-712 names and versions from the same table. */
const FURTHER: readonly Asset[] = [
  {
    ...USDC,
    network: 'eip155:137',
    title: 'Polygon',
    isTestnet: false,
    networkNameV1: 'polygon',
    chainId: 137,
    address: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
    displayedAddress: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    name: 'USD Coin',
    gas: {
      coin: 'POL',
      feeGweiMax: 1000,
      usdFeed: '0xab594600376ec9fd91f8e885dadf0ce036862de0',
      usdBounds: [0.01, 3],
    },
  },
  {
    ...USDC,
    network: 'eip155:42161',
    title: 'Arbitrum One',
    isTestnet: false,
    networkNameV1: 'arbitrum',
    chainId: 42161,
    address: '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
    displayedAddress: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    name: 'USD Coin',
    gas: { ...ETH, feeGweiMax: 1, usdFeed: '0x639fe6ab55c921f74e7fac1ee960c0b6293ba612' },
  },
  {
    ...USDC,
    network: 'eip155:43114',
    title: 'Avalanche',
    isTestnet: false,
    networkNameV1: 'avalanche',
    chainId: 43114,
    address: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e',
    displayedAddress: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    name: 'USD Coin',
    gas: {
      coin: 'AVAX',
      feeGweiMax: 100,
      usdFeed: '0x0a77230d17318075983913bc2145db16c7366156',
      usdBounds: [1, 300],
    },
  },
];

/** Prepaid money is spent by the same signed message as USDC. */
const PREPAID = {
  symbol: 'prepaid USDC',
  address: PREPAID_CONTRACT.toLowerCase() as Address,
  displayedAddress: PREPAID_CONTRACT,
  name: 'Prepaid USDC',
  version: '1',
  isPrepaid: true,
} as const;

/** At one address on every chain (`@x402/evm`). */
const ESCROW = {
  symbol: 'USDC in escrow',
  address: '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
  displayedAddress: '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003',
  name: 'x402 Batch Settlement',
  version: '1',
  isEscrow: true,
} as const;

/** The coins that are asked for, one on each network. A coin stays here as long as any server's store holds payments in it. */
export const COINS: readonly Asset[] = [BASE_USDC, BASE_SEPOLIA_USDC, ...FURTHER];

/** The same, and prepaid money and the escrow of each. */
export const ASSETS: readonly Asset[] = [
  ...COINS,
  ...[PREPAID, ESCROW].flatMap((kind) => COINS.map((coin) => ({ ...coin, ...kind }))),
];

/** The coin that is asked for on a network. `PAY_TO` receives it there. @throws Error */
export function assetOn(network: Asset['network']): Asset {
  const found = COINS.find((asset) => asset.network === network);
  if (!found) throw new Error(`there is no coin on ${network}`);
  return found;
}

/** Prepaid money of the coin on a network. */
export function prepaidOn(network: Asset['network']): Asset {
  return ASSETS.find((asset) => asset.network === network && asset.isPrepaid)!;
}

/** The coin on a network while it is in escrow. */
export function escrowOn(network: Asset['network']): Asset {
  return ASSETS.find((asset) => asset.network === network && asset.isEscrow)!;
}

/** True for either name of the asset's network. */
export function isNetworkOf({ network, networkNameV1 }: Asset, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === network || lower === networkNameV1;
}
