import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { AnswerLostError, type Kv, type KvOutcome, type KvRow, type KvTransaction } from './kv.ts';

/** Long enough for a new leader of etcd: 1.2 s, at most 3.2 where it was measured. */
const ANSWER_MS_MAX = 4000;

/** An answer of etcd's gateway: 64-bit numbers are text, bytes are base64, and what is zero or empty is left out. */
interface Answer {
  readonly header?: { readonly revision?: string };
  readonly succeeded?: boolean;
  readonly kvs?: readonly {
    readonly key: string;
    readonly value?: string;
    readonly mod_revision: string;
  }[];
}

/** etcd 3.4 or newer by its JSON gateway, which is as fast as gRPC here and needs no package. */
export class Etcd implements Kv {
  readonly #addresses: readonly URL[];
  readonly #agent = new Agent({ keepAlive: true });
  /** Which member is asked; the next one after each failure. */
  #asked = 0;

  /** @param addresses `http://host:port` of the members */
  constructor(addresses: readonly string[]) {
    this.#addresses = addresses.map((address) => new URL(address));
  }

  async commit({ when, puts = [], deletes = [] }: KvTransaction): Promise<KvOutcome> {
    const answer = await this.#ask('/v3/kv/txn', {
      compare: when.map(({ key, revision }) => ({
        key: base64(key),
        target: 'MOD',
        result: 'EQUAL',
        mod_revision: String(revision),
      })),
      success: [
        ...puts.map(({ key, value }) => ({ request_put: { key: base64(key), value: base64(value) } })),
        ...deletes.map(({ from, to }) => ({
          request_delete_range: { key: base64(from), range_end: base64(to) },
        })),
      ],
    });
    return { done: answer.succeeded === true, revision: Number(answer.header?.revision) };
  }

  async range(from: string, to: string, limit = 0): Promise<KvRow[]> {
    const { kvs = [] } = await this.#ask('/v3/kv/range', { key: base64(from), range_end: base64(to), limit });
    return kvs.map(({ key, value = '', mod_revision }) => ({
      key: Buffer.from(key, 'base64').toString(),
      value: Buffer.from(value, 'base64'),
      revision: Number(mod_revision),
    }));
  }

  close(): void {
    this.#agent.destroy();
  }

  async #ask(path: string, question: object): Promise<Answer> {
    const address = this.#addresses[this.#asked % this.#addresses.length]!;
    try {
      return await this.#askAt(new URL(path, address), JSON.stringify(question));
    } catch (error) {
      this.#asked += 1;
      throw new AnswerLostError(`${address.host}: ${(error as Error).message}`, { cause: error });
    }
  }

  #askAt(address: URL, question: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(address, {
        method: 'POST',
        agent: this.#agent,
        headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(question) },
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      asked.on('error', reject);
      asked.on('response', (response) => {
        text(response).then((body) => {
          if (response.statusCode === 200) resolve(JSON.parse(body) as Answer);
          else reject(new Error(`${response.statusCode} ${body.slice(0, 200)}`));
        }, reject);
      });
      asked.end(question);
    });
  }
}

function base64(part: string | Uint8Array): string {
  return Buffer.from(part as string).toString('base64');
}
