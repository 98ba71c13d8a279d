import type { Asset } from '../asset.ts';
import { RpcNode, RpcRefusal } from '../facilitator/rpc-node.ts';
import type { Hex } from '../payment.ts';

/** JSON-RPC's code of a call that was reverted (geth, Erigon, Reth, anvil). */
export const REVERTED_CODE = 3;

/** The nodes of one chain. Reads go to the first that answers, transactions to all. */
export class Nodes {
  readonly #nodes: readonly RpcNode[];
  readonly #chainId: number;

  constructor(urls: readonly string[], { chainId }: Asset) {
    this.#nodes = urls.map((url) => new RpcNode(url));
    this.#chainId = chainId;
  }

  /**
   * Has one node answer all that `read` asks, so that its answers fit together.
   * @throws RpcRefusal for a call that was reverted, Error when no node of the chain answers
   */
  async first<T>(read: (node: RpcNode) => Promise<T>): Promise<T> {
    const troubles: string[] = [];
    for (const node of this.#nodes) {
      try {
        await this.#mustBeOfChain(node);
        return await read(node);
      } catch (error) {
        if (isRevert(error)) throw error;
        troubles.push((error as Error).message);
      }
    }
    throw new Error(troubles.join('; '));
  }

  /** Sends a signed transaction to every node. @returns what those said that did not take it; undefined once one did */
  async broadcast(raw: Hex): Promise<string | undefined> {
    const said = await Promise.all(
      this.#nodes.map(async (node) => {
        try {
          await this.#mustBeOfChain(node);
          await node.call('eth_sendRawTransaction', [raw]);
          return undefined;
        } catch (error) {
          const told = error instanceof RpcRefusal ? error.told : (error as Error).message;
          return isKnown(told) ? undefined : told;
        }
      }),
    );
    return said.includes(undefined) ? undefined : said.join('; ');
  }

  async #mustBeOfChain(node: RpcNode): Promise<void> {
    const chainId = await node.chainId();
    if (chainId !== this.#chainId)
      throw new Error(`FARTHING_RPC_URL leads to chain ${chainId}, not to ${this.#chainId}`);
  }
}

/** True for a call that the chain's own rules ended, whichever node is asked. */
export function isRevert(error: unknown): error is RpcRefusal {
  return error instanceof RpcRefusal && (error.code === REVERTED_CODE || /revert/i.test(error.told));
}

/** The node has the transaction already (geth, Erigon, Reth and Nethermind in their words). */
function isKnown(told: string): boolean {
  return /already known|already imported|known transaction|AlreadyKnown|already in mempool/i.test(told);
}
