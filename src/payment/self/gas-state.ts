import type { Address } from '@farthing/protocol/address';
import { formatEther, formatGwei } from 'viem';
import type { GasHealth } from '../facilitator/facilitator.ts';
import type { Hex } from '../payment.ts';
import { type Fees, feesFor, smaller } from './fees.ts';
import type { Nodes } from './nodes.ts';

/** Gas for a transfer of USDC, including Base's charge for its own chain's data. */
export const GAS_OF_TRANSFER = 80_000n;
/** Fallback for a node without `eth_maxPriorityFeePerGas`: accepted by Base's blocks (docs.base.org, network fees). */
const TIP_FALLBACK = 1_000_000n;
/** A block of Base comes every two seconds. */
const FRESH_MS = 2000;
/** How often figures for an operator are read anew. */
const SHOWN_MS = 15_000;

/** The newest block, for a wallet that pays gas. */
export interface Head {
  readonly number: bigint;
  /** Seconds since the epoch. */
  readonly timestamp: bigint;
  readonly baseFee: bigint;
  readonly tip: bigint;
  /** Transactions of the wallet until then: the next account nonce. */
  readonly count: number;
  /** Wei of the wallet. */
  readonly balance: bigint;
}

/** The wallet that pays the gas, and what gas costs, as the chain had it last. */
export class GasState {
  readonly address: Address;
  readonly #nodes: Nodes;
  readonly #feeMax: bigint;
  #head: Head | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Head> | undefined;
  #trouble: string | undefined;

  constructor({ nodes, address, feeMax }: { nodes: Nodes; address: Address; feeMax: bigint }) {
    this.#nodes = nodes;
    this.address = address;
    this.#feeMax = feeMax;
  }

  /** The newest block as it is now. @throws Error when no node can be asked */
  read(): Promise<Head> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The newest block, at most as old as one takes. @throws Error when no node can be asked */
  async recent(): Promise<Head> {
    return this.#head && performance.now() - this.#readAt < FRESH_MS ? this.#head : this.read();
  }

  /** Fees for a transaction of now; undefined when the network asks for more than the settings allow. */
  fees({ baseFee, tip }: Head): Fees | undefined {
    return feesFor(baseFee, tip, this.#feeMax);
  }

  /** Why no transaction can be sent; undefined where one can, for all that is known. Reads in the background if it is time to. */
  obstacle(): string | undefined {
    const obstacle = this.#trouble ?? (this.#head && this.obstacleAt(this.#head));
    const isOld = performance.now() - this.#readAt > (obstacle === undefined ? SHOWN_MS : FRESH_MS);
    if (isOld) this.read().catch(() => undefined);
    return obstacle;
  }

  /** The same of a block that was read. */
  obstacleAt(head: Head): string | undefined {
    const fees = this.fees(head);
    if (!fees)
      return `the network asks for ${formatGwei(head.baseFee)} gwei, and FARTHING_GAS_FEE_GWEI_MAX is ${formatGwei(this.#feeMax)}`;
    if (head.balance < fees.maxFeePerGas * GAS_OF_TRANSFER)
      return `the gas wallet ${this.address} has ${formatEther(head.balance)} ETH, not enough for a settlement: send it some`;
    return undefined;
  }

  /** Figures for an operator; undefined until the chain was read. */
  figures(): Pick<GasHealth, 'address' | 'eth' | 'settlements_left'> | undefined {
    const head = this.#head;
    if (!head) return undefined;
    const cost = smaller(head.baseFee + head.tip, this.#feeMax) * GAS_OF_TRANSFER;
    return {
      address: this.address,
      eth: formatEther(head.balance),
      settlements_left: cost === 0n ? 0 : Number(head.balance / cost),
    };
  }

  async #read(): Promise<Head> {
    this.#readAt = performance.now();
    try {
      this.#head = await readHead(this.#nodes, this.address);
      this.#trouble = undefined;
      return this.#head;
    } catch (error) {
      this.#trouble = (error as Error).message;
      this.#head = undefined;
      throw error;
    }
  }
}

function readHead(nodes: Nodes, address: Address): Promise<Head> {
  return nodes.first(async (node) => {
    const [block, count, balance, tip] = await Promise.all([
      node.call<{ number: Hex; timestamp: Hex; baseFeePerGas?: Hex }>('eth_getBlockByNumber', [
        'latest',
        false,
      ]),
      node.call<Hex>('eth_getTransactionCount', [address, 'latest']),
      node.call<Hex>('eth_getBalance', [address, 'latest']),
      node.call<Hex>('eth_maxPriorityFeePerGas', []).then(BigInt, () => TIP_FALLBACK),
    ]);
    return {
      number: BigInt(block.number),
      timestamp: BigInt(block.timestamp),
      baseFee: BigInt(block.baseFeePerGas ?? 0),
      tip,
      count: Number(count),
      balance: BigInt(balance),
    };
  });
}
