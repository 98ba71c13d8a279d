import type { Address } from '@farthing/protocol/address';
import { formatUsd } from '@farthing/protocol/money';
import { formatEther, formatGwei } from 'viem';
import type { Asset } from '../asset.ts';
import type { GasHealth } from '../facilitator/facilitator.ts';
import type { RpcNode } from '../facilitator/rpc-node.ts';
import type { Hex } from '../payment.ts';
import { CoinPrice, type CoinPriceNow, PRICE_UNITS_PER_USD, unitsOf, weiOf } from './coin-price.ts';
import { type Fees, feesFor, smaller } from './fees.ts';
import type { Nodes } from './nodes.ts';

/** Gas for a transfer of Circle's USDC alone in its transaction: measured, 85,700 and more with a payer's first nonce. */
export const GAS_OF_TRANSFER = 90_000n;
/** Bytes of such a transaction, for the charge of OP Stack networks for their data. */
const BYTES_OF_TRANSFER = 420;
/** Lowest tip: what Base's blocks accept (docs.base.org, network fees), and the one of a node that tells no other. */
const TIP_MIN = 1_000_000n;
/** Blocks whose tips are looked at, and the part of each block's gas that paid less. */
const TIP_BLOCKS = 10;
const TIP_PERCENTILE = 25;
/** A block of Base comes every two seconds. */
const FRESH_MS = 2000;
/** How often figures for an operator are read anew. */
const SHOWN_MS = 15_000;
/** First four bytes of keccak256 of `getL1FeeUpperBound(uint256)` (OP Stack, GasPriceOracle). */
const DATA_FEE = '0xf1c7a58b';

/** The newest block, for a wallet that pays gas. */
export interface Head {
  readonly number: bigint;
  /** Seconds since the epoch. */
  readonly timestamp: bigint;
  readonly baseFee: bigint;
  readonly tip: bigint;
  /** Wei for the data of a settlement, beside its gas. */
  readonly dataFee: bigint;
  readonly price: CoinPriceNow;
  /** Transactions of the wallet until then: the next account nonce. */
  readonly count: number;
  /** Wei of the wallet. */
  readonly balance: bigint;
}

export interface GasStateDeps {
  readonly nodes: Nodes;
  readonly address: Address;
  readonly asset: Asset;
  /** Wei for a unit of gas. */
  readonly feeMax: bigint;
  /** Part of a price that its settlement's gas may take, in percent. */
  readonly shareMax: number;
  /** Price of the network's coin by the settings, in `PRICE_UNITS_PER_USD`; 0n: read from the chain. */
  readonly coinUsd: bigint;
}

/** The wallet that pays the gas, and what gas costs, as the chain had it last. */
export class GasState {
  readonly address: Address;
  readonly #deps: GasStateDeps;
  readonly #price: CoinPrice;
  #head: Head | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Head> | undefined;
  #trouble: string | undefined;

  constructor(deps: GasStateDeps) {
    this.#deps = deps;
    this.address = deps.address;
    this.#price = new CoinPrice(deps.asset, deps.coinUsd);
  }

  /** Part of a price that its settlement's gas may take, in percent. */
  get shareMax(): number {
    return this.#deps.shareMax;
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

  /** Fees for a transaction of now; undefined when the network asks for more than `feeMax`, or than the settings allow. */
  fees({ baseFee, tip }: Head, feeMax = this.#deps.feeMax): Fees | undefined {
    return feesFor(baseFee, tip, smaller(feeMax, this.#deps.feeMax));
  }

  /** Most that a unit of gas may cost a settlement of `units` that brings in `amount` (units of the coin). */
  feeMaxFor(amount: bigint, units: bigint, { dataFee, price }: Head, share = this.shareMax): bigint {
    const { feeMax } = this.#deps;
    const wei = weiOf((amount * BigInt(share)) / 100n, price);
    if (wei === undefined) return feeMax;
    return wei <= dataFee ? 0n : smaller((wei - dataFee) / units, feeMax);
  }

  /**
   * Why a settlement of `amount` would cost more than it may; undefined where it does not, for all that is known. What is offered must be
   * payable a few blocks later, too: a base fee that is a quarter higher is counted.
   */
  tooDear(amount: bigint, units = GAS_OF_TRANSFER, head = this.#head): string | undefined {
    if (!head) return undefined;
    const offered = head.baseFee + head.baseFee / 4n + head.tip;
    if (offered <= this.feeMaxFor(amount, units, head)) return undefined;
    return `its settlement would cost ${formatUsd(this.costOf(units, head))} USD of gas, and it brings in ${formatUsd(amount)} USD`;
  }

  /** Units of the coin that a settlement of so much gas costs at the fees of `head`, rounded up. */
  costOf(gas: bigint, { baseFee, tip, dataFee, price }: Head): bigint {
    return unitsOf((baseFee + tip) * gas + dataFee, price);
  }

  /** Units of the coin that wei of a transaction's gas are worth now, decimal. */
  usdUnitsOf(gasWei: string): string {
    return unitsOf(BigInt(gasWei), this.#price.now).toString();
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
    const { asset, feeMax } = this.#deps;
    if (!fees)
      return `the network asks for ${formatGwei(head.baseFee)} gwei, and FARTHING_GAS_FEE_GWEI_MAX is ${formatGwei(feeMax)}`;
    if (head.balance < fees.maxFeePerGas * GAS_OF_TRANSFER)
      return `the gas wallet ${this.address} has ${formatEther(head.balance)} ${asset.gas.coin}, not enough for a settlement: send it some`;
    return undefined;
  }

  /** Figures for an operator; undefined until the chain was read. */
  figures():
    | Pick<GasHealth, 'address' | 'coin' | 'eth' | 'settlements_left' | 'coin_usd' | 'settlement_usd'>
    | undefined {
    const head = this.#head;
    if (!head) return undefined;
    const cost = smaller(head.baseFee + head.tip, this.#deps.feeMax) * GAS_OF_TRANSFER;
    return {
      address: this.address,
      coin: this.#deps.asset.gas.coin,
      eth: formatEther(head.balance),
      settlements_left: cost === 0n ? 0 : Number(head.balance / cost),
      coin_usd: Number(head.price.price) / Number(PRICE_UNITS_PER_USD),
      settlement_usd: formatUsd(this.costOf(GAS_OF_TRANSFER, head)),
    };
  }

  async #read(): Promise<Head> {
    this.#readAt = performance.now();
    try {
      this.#head = await readHead(this.#deps, this.#price);
      this.#trouble = undefined;
      return this.#head;
    } catch (error) {
      this.#trouble = (error as Error).message;
      this.#head = undefined;
      throw error;
    }
  }
}

function readHead({ nodes, address, asset }: GasStateDeps, coin: CoinPrice): Promise<Head> {
  return nodes.first(async (node) => {
    const [block, count, balance, tip, dataFee] = await Promise.all([
      node.call<{ number: Hex; timestamp: Hex; baseFeePerGas?: Hex }>('eth_getBlockByNumber', [
        'latest',
        false,
      ]),
      node.call<Hex>('eth_getTransactionCount', [address, 'latest']),
      node.call<Hex>('eth_getBalance', [address, 'latest']),
      readTip(node),
      readDataFee(node, asset),
    ]);
    const timestamp = BigInt(block.timestamp);
    return {
      number: BigInt(block.number),
      timestamp,
      baseFee: BigInt(block.baseFeePerGas ?? 0),
      tip,
      dataFee,
      price: await coin.read(node, timestamp),
      count: Number(count),
      balance: BigInt(balance),
    };
  });
}

/** The tip that got into the last blocks at their cheap end: the median of those that held transactions. Never throws. */
async function readTip(node: RpcNode): Promise<bigint> {
  try {
    const count = `0x${TIP_BLOCKS.toString(16)}`;
    const { reward, gasUsedRatio } = await node.call<{ reward: Hex[][]; gasUsedRatio: number[] }>(
      'eth_feeHistory',
      [count, 'latest', [TIP_PERCENTILE]],
    );
    const tips = reward
      .filter((_, at) => gasUsedRatio[at]! > 0)
      .map(([tip]) => BigInt(tip!))
      .sort((a, b) => (a < b ? -1 : 1));
    const median = tips[Math.floor(tips.length / 2)] ?? 0n;
    return median > TIP_MIN ? median : TIP_MIN;
  } catch {
    return TIP_MIN;
  }
}

/** Wei for a settlement's data; 0 where the network charges none apart. Never throws. */
async function readDataFee(node: RpcNode, { gas }: Asset): Promise<bigint> {
  if (!gas.dataFeeOracle) return 0n;
  const data = DATA_FEE + BYTES_OF_TRANSFER.toString(16).padStart(64, '0');
  return node
    .call<Hex>('eth_call', [{ to: gas.dataFeeOracle, data }, 'latest'])
    .then((fee) => (fee === '0x' ? 0n : BigInt(fee)))
    .catch(() => 0n);
}
