import type { Hex, Payment } from '../payment.ts';
import { ownMember } from '../wire/strict-json.ts';
import type { ChainWitness, Sighting } from './chain-witness.ts';
import { exchangeJson } from './json-http.ts';

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

const DEADLINE_MS = 5000;
/** A block names all its transactions, and a receipt all that was logged: some 100 kB each on Base. */
const REPLY_BYTES_MAX = 2 ** 20;
/** Providers limit the blocks of one look at the log; 2,000 is under the limits of all that we know. */
const BLOCKS_PER_LOOK = 2000n;
/** Two seconds a block on Base: 40,000 blocks are 22 hours, and an authorization lives for little more than one. */
const LOOKS_MAX = 20;

interface Block {
  readonly number: Hex;
  readonly timestamp: Hex;
}

interface Log {
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: Hex;
  readonly address: Hex;
  readonly transactionHash: Hex;
}

/** Asks a node of the chain itself over JSON-RPC: `authorizationState`, and the transaction that used the authorization. */
export class RpcWitness implements ChainWitness {
  readonly #url: string;
  #chainId: number | undefined;

  constructor({ url }: { url: string }) {
    this.#url = url;
  }

  /** @throws Error when the node cannot be asked, is one of another chain, or knows of a use but not by what. */
  async look(payment: Payment): Promise<Sighting> {
    await this.#assertChainOf(payment);
    const { asset, payer, nonce } = payment;
    // State, balance and time are of one block: of several nodes behind one address, one may be behind the others.
    const block = await this.#call<Block>('eth_getBlockByNumber', ['latest', false]);
    const read = (data: string) =>
      this.#call<Hex>('eth_call', [{ to: asset.address, data }, block.number]).then(BigInt);
    if ((await read(AUTHORIZATION_STATE + word(payer) + word(nonce))) === 0n)
      return {
        kind: 'unused',
        chainTimeS: BigInt(block.timestamp),
        balance: await read(BALANCE_OF + word(payer)),
      };
    const use = await this.#findUse(payment);
    if (use.topics[0] === TOPICS.authorizationCanceled) return { kind: 'used_otherwise' };
    return (await this.#paidUs(use, payment))
      ? { kind: 'settled', transaction: use.transactionHash }
      : { kind: 'used_otherwise' };
  }

  async #assertChainOf({ asset }: Payment): Promise<void> {
    this.#chainId ??= Number(await this.#call<Hex>('eth_chainId', []));
    if (this.#chainId !== asset.chainId)
      throw new Error(`FARTHING_RPC_URL leads to chain ${this.#chainId}, not to ${asset.chainId}`);
  }

  /** The event that ended the authorization, searched from the newest block backwards. */
  async #findUse({ asset, payer, nonce }: Payment): Promise<Log> {
    let toBlock = BigInt(await this.#call<Hex>('eth_blockNumber', []));
    for (let looks = 0; looks < LOOKS_MAX && toBlock >= 0n; looks++) {
      const fromBlock = toBlock >= BLOCKS_PER_LOOK ? toBlock - BLOCKS_PER_LOOK + 1n : 0n;
      const [use] = await this.#call<Log[]>('eth_getLogs', [
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
    }
    throw new Error('The authorization was used, but the log of the chain does not tell by what.');
  }

  /** The transfer that the token logs right after the use: another one of the same transaction proves nothing. */
  async #paidUs(use: Log, { asset, payer, payTo, value }: Payment): Promise<boolean> {
    const receipt = await this.#call<{ logs: Log[] }>('eth_getTransactionReceipt', [use.transactionHash]);
    const after = receipt.logs
      .filter(
        ({ address, logIndex }) =>
          address.toLowerCase() === asset.address && Number(logIndex) > Number(use.logIndex),
      )
      .sort((a, b) => Number(a.logIndex) - Number(b.logIndex));
    const transfer = after[0];
    return (
      transfer !== undefined &&
      transfer.topics.length === 3 &&
      transfer.topics[0] === TOPICS.transfer &&
      BigInt(transfer.topics[1]!) === BigInt(payer) &&
      BigInt(transfer.topics[2]!) === BigInt(payTo) &&
      BigInt(transfer.data) === value
    );
  }

  async #call<T>(method: string, params: readonly unknown[]): Promise<T> {
    const reply = await exchangeJson(this.#url, {
      method: 'POST',
      body: { jsonrpc: '2.0', id: 1, method, params },
      deadlineMs: DEADLINE_MS,
      replyBytesMax: REPLY_BYTES_MAX,
    });
    const result = reply.kind === 'reply' ? ownMember(reply.body, 'result') : undefined;
    if (result === undefined || result === null) {
      const detail = reply.kind === 'reply' ? `answered ${reply.status}` : reply.detail;
      throw new Error(`The chain's node: ${method} ${detail}`);
    }
    return result as T;
  }
}

/** 32 bytes in hexadecimal, without a prefix. */
function word(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0');
}

function quantity(number: bigint): string {
  return `0x${number.toString(16)}`;
}
