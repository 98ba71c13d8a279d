import { ownMember } from '../wire/strict-json.ts';
import { exchangeJson } from './json-http.ts';

const DEADLINE_MS = 5000;
/** A block names all its transactions, and a receipt all that was logged: some 100 kB each on Base. */
const REPLY_BYTES_MAX = 2 ** 20;

/** A node answered a call with an error: with a smaller question it may answer. */
export class RpcRefusal extends Error {}

/** One node of a chain, over JSON-RPC. */
export class RpcNode {
  readonly url: string;
  #chainId: number | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** Its chain; asked once. */
  async chainId(): Promise<number> {
    this.#chainId ??= Number(await this.call<string>('eth_chainId', []));
    return this.#chainId;
  }

  /** @throws RpcRefusal when it answers an error, Error when it cannot be asked */
  async call<T>(method: string, params: readonly unknown[]): Promise<T> {
    const reply = await exchangeJson(this.url, {
      method: 'POST',
      body: { jsonrpc: '2.0', id: 1, method, params },
      deadlineMs: DEADLINE_MS,
      replyBytesMax: REPLY_BYTES_MAX,
    });
    if (reply.kind !== 'reply') throw new Error(`The chain's node: ${method} ${reply.detail}`);
    const result = ownMember(reply.body, 'result');
    if (result !== undefined && result !== null) return result as T;
    const message = ownMember(ownMember(reply.body, 'error'), 'message');
    const detail = typeof message === 'string' ? `: ${message.slice(0, 200)}` : '';
    throw new RpcRefusal(`The chain's node: ${method} answered ${reply.status}${detail}`);
  }
}
