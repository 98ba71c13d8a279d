import type { Asset } from '../asset.ts';
import type { Hex } from '../payment.ts';
import { quantity, type RpcNode, RpcRefusal, word } from './rpc-node.ts';
import { TOPICS } from './rpc-witness.ts';

/** A transfer of a coin to a wallet. */
export interface Received {
  readonly from: Hex;
  readonly value: bigint;
  readonly transaction: Hex;
  readonly block: number;
}

interface Log {
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
}

/** Blocks per call, under the limits of all paid plans that we know; halved where a plan refuses. */
const BLOCKS_MAX = 2000n;

/**
 * Transfers of a coin to a wallet since a time, oldest first, according to one node's log. On a plan of ten blocks a call, a day of Base
 * takes some 4,000 calls.
 * @param progress called with the share that is read
 * @throws Error when the node does not answer, or shows no log
 */
export async function* readReceived(
  node: RpcNode,
  { address }: Asset,
  { payTo, sinceMs, progress }: { payTo: Hex; sinceMs: number; progress?: (share: number) => void },
): AsyncGenerator<Received> {
  const newest = BigInt(await node.call<Hex>('eth_blockNumber', []));
  const first = await blockAt(node, BigInt(Math.floor(sinceMs / 1000)), newest);
  const topics = [TOPICS.transfer, null, `0x${word(payTo)}`];
  let blocks = BLOCKS_MAX;
  for (let from = first; from <= newest; ) {
    const to = from + blocks - 1n < newest ? from + blocks - 1n : newest;
    let logs: Log[];
    try {
      const range = { fromBlock: quantity(from), toBlock: quantity(to) };
      logs = await node.call<Log[]>('eth_getLogs', [{ address, ...range, topics }]);
    } catch (error) {
      if (!(error instanceof RpcRefusal) || blocks === 1n) throw error;
      blocks /= 2n;
      continue;
    }
    for (const { topics: told, data, transactionHash, blockNumber } of logs)
      yield {
        from: `0x${told[1]!.slice(-40)}`,
        value: BigInt(data),
        transaction: transactionHash,
        block: Number(blockNumber),
      };
    from = to + 1n;
    progress?.(Number(from - first) / Number(newest - first + 1n));
  }
}

/** The first block that is not older than a time, in seconds; the one after the newest where none is. */
async function blockAt(node: RpcNode, time: bigint, newest: bigint): Promise<bigint> {
  let [low, high] = [0n, newest + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    const { timestamp } = await node.call<{ timestamp: Hex }>('eth_getBlockByNumber', [
      quantity(middle),
      false,
    ]);
    if (BigInt(timestamp) < time) low = middle + 1n;
    else high = middle;
  }
  return low;
}
