import type { Asset } from '../asset.ts';
import type { Hex, Payment } from '../payment.ts';
import type { ChainWitness, Sighting } from './chain-witness.ts';
import { quantity, RpcNode, RpcRefusal, word } from './rpc-node.ts';

/** First four bytes of keccak256 of `authorizationState(address,bytes32)` (EIP-3009). */
const AUTHORIZATION_STATE = '0xe94a0102';
/** First four bytes of keccak256 of `balanceOf(address)` (ERC-20). */
const BALANCE_OF = '0x70a08231';
/** keccak256 of the events' signatures (EIP-3009, ERC-20). */
export const TOPICS = {
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  authorizationCanceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const;

/** Blocks of the first look at the log. Free plans answer 10 (Alchemy) or 5 (QuickNode), and a settlement is seconds old, of 2 s each. */
export const BLOCKS_FIRST = 10n;
/** Blocks per call, under the limits of all paid plans that we know. */
const BLOCKS_MAX = 2000n;
/** From 10 to 2,000 blocks a look this is 18 hours; an authorization lives for little more than one. */
const LOOKS_MAX = 24;
/** No payment is taken that is valid for longer: the time that is asked for, an hour over it (gate/checks.ts), and clocks that differ. */
const VALIDITY_S_MAX = 4500n;

interface Block {
  readonly number: Hex;
  readonly timestamp: Hex;
}

export interface Log {
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: Hex;
  readonly address: Hex;
  readonly transactionHash: Hex;
}

interface NodeState {
  readonly node: RpcNode;
  /** Most blocks of a look that it has refused less than. */
  blocksMax: bigint;
}

/**
 * Asks nodes of the chain, in their order, over JSON-RPC: `authorizationState`, and then the transaction that used the authorization. The
 * first that answers counts.
 */
export class RpcWitness implements ChainWitness {
  readonly #nodes: readonly NodeState[];

  constructor({ urls }: { urls: readonly string[] }) {
    this.#nodes = urls.map((url) => ({ node: new RpcNode(url), blocksMax: BLOCKS_MAX }));
  }

  /**
   * A used nonce whose transaction no node can show, since none lets its log be read, counts as settled, without a transaction: a payer
   * must not be refused because of a limited node plan. A log that was read and shows nothing explains nothing: see `Sighting`.
   * @param hint hash that the facilitator reported: looked at before the log
   * @throws Error when no node can be asked, or all are of other chains
   */
  async look(payment: Payment, hint?: string): Promise<Sighting> {
    const troubles: string[] = [];
    let isUsed = false;
    let unexplained: Extract<Sighting, { kind: 'unexplained' }> | undefined;
    for (const state of this.#nodes) {
      try {
        const read = await readState(state.node, payment);
        // A node that has not seen the use yet is behind one that has.
        if (read.kind === 'unused' && !isUsed) return read;
        if (read.kind === 'unused') continue;
        isUsed = true;
        const found = await findUse(state, payment, hint);
        const seen = typeof found === 'object' && (await sightingOf(state.node, found, payment));
        if (seen) return seen;
        const { chainTimeS } = read;
        const isComplete = found === true;
        if (!unexplained?.isComplete) unexplained = { kind: 'unexplained', chainTimeS, isComplete };
      } catch (error) {
        troubles.push((error as Error).message);
      }
    }
    if (unexplained) return unexplained;
    if (isUsed) return { kind: 'settled', transaction: '', unread: troubles.join('; ') };
    throw new Error(troubles.join('; '));
  }

  async isContract({ asset, payer }: Payment): Promise<boolean> {
    const troubles: string[] = [];
    for (const { node } of this.#nodes) {
      try {
        await mustBeOf(asset, node);
        return (await node.call<Hex>('eth_getCode', [payer, 'latest'])) !== '0x';
      } catch (error) {
        troubles.push((error as Error).message);
      }
    }
    throw new Error(troubles.join('; '));
  }
}

/** @throws Error for a node of another chain */
async function mustBeOf({ chainId: expected }: Asset, node: RpcNode): Promise<void> {
  const chainId = await node.chainId();
  if (chainId !== expected) throw new Error(`FARTHING_RPC_URL leads to chain ${chainId}, not to ${expected}`);
}

/** State of the nonce and time of the newest block; `used` says nothing of who used it. */
async function readState(
  node: RpcNode,
  { asset, payer, nonce }: Payment,
): Promise<Extract<Sighting, { kind: 'unused' }> | { readonly kind: 'used'; readonly chainTimeS: bigint }> {
  await mustBeOf(asset, node);
  // State, balance and time are of one block: of several nodes behind one address, one may be behind the others.
  const block = await node.call<Block>('eth_getBlockByNumber', ['latest', false]);
  const read = (data: string) =>
    node.call<Hex>('eth_call', [{ to: asset.address, data }, block.number]).then(BigInt);
  const chainTimeS = BigInt(block.timestamp);
  if ((await read(AUTHORIZATION_STATE + word(payer) + word(nonce))) !== 0n)
    return { kind: 'used', chainTimeS };
  const balance = await read(BALANCE_OF + word(payer));
  return { kind: 'unused', chainTimeS, balance };
}

/**
 * The event that ended the authorization: in the facilitator's transaction, or searched from the newest block backwards.
 * @returns otherwise whether the search reached the time before which the payment cannot have come
 */
async function findUse(state: NodeState, payment: Payment, hint?: string): Promise<Log | boolean> {
  const { node } = state;
  const told =
    hint === undefined ? undefined : (await logsOf(node, hint).catch(() => [])).find(isUse(payment));
  if (told) return told;
  const { asset, payer, nonce } = payment;
  let toBlock = BigInt(await node.call<Hex>('eth_blockNumber', []));
  let blocks = BLOCKS_FIRST < state.blocksMax ? BLOCKS_FIRST : state.blocksMax;
  for (let looks = 0; looks < LOOKS_MAX && toBlock >= 0n; looks++) {
    const fromBlock = toBlock >= blocks ? toBlock - blocks + 1n : 0n;
    try {
      const [use] = await node.call<Log[]>('eth_getLogs', [
        {
          address: asset.address,
          fromBlock: quantity(fromBlock),
          toBlock: quantity(toBlock),
          topics: [
            [TOPICS.authorizationUsed, TOPICS.authorizationCanceled],
            `0x${word(payer)}`,
            `0x${word(nonce)}`,
          ],
        },
      ]);
      if (use) return use;
      toBlock = fromBlock - 1n;
      blocks = blocks * 4n < state.blocksMax ? blocks * 4n : state.blocksMax;
    } catch (error) {
      if (!(error instanceof RpcRefusal) || blocks === 1n) throw error;
      blocks /= 2n;
      state.blocksMax = blocks;
    }
  }
  if (toBlock < 0n) return true;
  const { timestamp } = await node.call<Block>('eth_getBlockByNumber', [quantity(toBlock + 1n), false]);
  return BigInt(timestamp) < payment.validBefore - VALIDITY_S_MAX;
}

/** Recognises the event that ended a payment's authorization, by its use or its cancellation. */
export function isUse({ asset, payer, nonce }: Payment): (log: Log) => boolean {
  return ({ address, topics: [event, authorizer, used] }) =>
    address.toLowerCase() === asset.address &&
    (event === TOPICS.authorizationUsed || event === TOPICS.authorizationCanceled) &&
    authorizer === `0x${word(payer)}` &&
    used === `0x${word(nonce)}`;
}

/** Undefined while the node has the event and not its transaction. */
async function sightingOf(node: RpcNode, use: Log, payment: Payment): Promise<Sighting | undefined> {
  if (use.topics[0] === TOPICS.authorizationCanceled) return { kind: 'used_otherwise' };
  const receipt = await node.find<{ logs: Log[] }>('eth_getTransactionReceipt', [use.transactionHash]);
  if (!receipt) return undefined;
  return paidUs(receipt.logs, use, payment)
    ? { kind: 'settled', transaction: use.transactionHash }
    : { kind: 'used_otherwise' };
}

/** A transfer of a coin, as a transaction's receipt has it. */
export interface ProvenTransfer {
  readonly block: number;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
}

/**
 * The coin's transfers in a transaction, in their order, as one node has them; undefined for a transaction that is in no block there.
 * @throws Error when the node cannot be asked, or is of another chain
 */
export async function readTransfers(
  node: RpcNode,
  asset: Asset,
  transaction: string,
): Promise<readonly ProvenTransfer[] | undefined> {
  await mustBeOf(asset, node);
  const receipt = await node.find<{ blockNumber: Hex; logs: Log[] }>('eth_getTransactionReceipt', [
    transaction,
  ]);
  const of = (topic: Hex | undefined): Hex => `0x${topic?.slice(-40)}`;
  return receipt?.logs
    .filter(({ address, topics }) => address.toLowerCase() === asset.address && topics[0] === TOPICS.transfer)
    .map(({ topics: [, from, to], data }) => ({
      block: Number(receipt.blockNumber),
      from: of(from),
      to: of(to),
      value: BigInt(data),
    }));
}

async function logsOf(node: RpcNode, transaction: string): Promise<readonly Log[]> {
  return (await node.call<{ logs: Log[] }>('eth_getTransactionReceipt', [transaction])).logs;
}

/** Whether the transfer that the token logs right after the use is ours: another one of the same transaction proves nothing. */
function paidUs(logs: readonly Log[], use: Log, { asset, payer, payTo, value }: Payment): boolean {
  const [transfer] = logs
    .filter(
      ({ address, logIndex }) =>
        address.toLowerCase() === asset.address && Number(logIndex) > Number(use.logIndex),
    )
    .sort((a, b) => Number(a.logIndex) - Number(b.logIndex));
  return (
    transfer !== undefined &&
    transfer.topics.length === 3 &&
    transfer.topics[0] === TOPICS.transfer &&
    BigInt(transfer.topics[1]!) === BigInt(payer) &&
    BigInt(transfer.topics[2]!) === BigInt(payTo) &&
    BigInt(transfer.data) === value
  );
}
