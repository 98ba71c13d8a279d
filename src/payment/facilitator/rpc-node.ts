import { ownMember } from '../wire/strict-json.ts';
import { exchangeJson } from './json-http.ts';

const DEADLINE_MS = 5000;
/** A block names all its transactions, and a receipt all that was logged: some 100 kB each on Base. */
const REPLY_BYTES_MAX = 2 ** 20;

/** A node answered a call with an error: with a smaller question it may answer. */
export class RpcRefusal extends Error {
  /** The node's error text; empty when it gave no reason. */
  readonly told: string;
  /** Code of the error in JSON-RPC: 3 is a call that was reverted. */
  readonly code: number | undefined;

  constructor(message: string, { told = '', code }: { told?: string; code?: number } = {}) {
    super(message);
    this.told = told;
    this.code = code;
  }
}

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

  /** @throws RpcRefusal when it answers an error or nothing, Error when it cannot be asked */
  async call<T>(method: string, params: readonly unknown[]): Promise<T> {
    const result = await this.find<T>(method, params);
    if (result === undefined) throw new RpcRefusal(`The chain's node: ${method} answered nothing`);
    return result;
  }

  /** As `call`; undefined for what the node does not know, such as a receipt. */
  async find<T>(method: string, params: readonly unknown[]): Promise<T | undefined> {
    const reply = await exchangeJson(this.url, {
      method: 'POST',
      body: { jsonrpc: '2.0', id: 1, method, params },
      deadlineMs: DEADLINE_MS,
      replyBytesMax: REPLY_BYTES_MAX,
    });
    if (reply.kind !== 'reply') throw new Error(`The chain's node: ${method} ${reply.detail}`);
    const result = ownMember(reply.body, 'result');
    if (result !== undefined) return result === null ? undefined : (result as T);
    const error = ownMember(reply.body, 'error');
    const [message, code] = [ownMember(error, 'message'), ownMember(error, 'code')];
    const told = typeof message === 'string' ? message : '';
    const detail = told === '' ? '' : `: ${told.slice(0, 200)}`;
    throw new RpcRefusal(`The chain's node: ${method} answered ${reply.status}${detail}`, {
      told,
      ...(typeof code === 'number' && { code }),
    });
  }
}

/** 32 bytes in hexadecimal, without a prefix. */
export function word(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0');
}

export function quantity(number: bigint): string {
  return `0x${number.toString(16)}`;
}
