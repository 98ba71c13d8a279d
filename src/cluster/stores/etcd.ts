import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import {
  AnswerLostError,
  behind,
  type Kv,
  type KvOutcome,
  type KvRange,
  type KvRow,
  type KvTransaction,
  type Leases,
  MomentOverError,
  realPause,
  type Watches,
} from './kv.ts';

/** Long enough for a new leader of etcd: 1.2 s, at most 3.2 where it was measured. */
const ANSWER_MS_MAX = 4000;
/** Before a watch that has ended begins again. */
const WATCH_AGAIN_MS = 500;

/** An answer of etcd's gateway: 64-bit numbers are text, bytes are base64, and what is zero or empty is left out. */
interface Answer {
  readonly header?: { readonly revision?: string };
  readonly succeeded?: boolean;
  /** Token of an authentication. */
  readonly token?: string;
  /** Id of a new lease. */
  readonly ID?: string;
  /** Remaining seconds of a renewed lease. */
  readonly result?: { readonly TTL?: string };
  readonly kvs?: readonly StoredRow[];
  /** Responses of a transaction. */
  readonly responses?: readonly { readonly response_range?: { readonly kvs?: readonly StoredRow[] } }[];
}

interface StoredRow {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

/** How this server shows who it is, and knows that an address is etcd's. */
export interface EtcdAccess {
  /** PEM; for `https` addresses. `ca` absent: the authorities that Node knows. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly user?: { readonly name: string; readonly password: string };
  /** Time limit for a member's answer, after which the next one is asked. Absent: longer than a new leader takes. */
  readonly answerMsMax?: number;
}

/** Status of an etcd member. */
export interface EtcdMember {
  /** `host:port`. */
  readonly address: string;
  readonly version: string;
  readonly hasLeader: boolean;
  readonly dbBytes: number;
  /** 0 where unknown. */
  readonly quotaBytes: number;
  /** Mean duration of its disk syncs since its start, in milliseconds; undefined where unknown. */
  readonly syncMs: number | undefined;
  /** Alarms, as that it is full. */
  readonly errors: readonly string[];
}

interface Status {
  readonly version?: string;
  readonly leader?: string;
  readonly dbSize?: string;
  readonly errors?: readonly string[];
}

/** A token that etcd gave is over, or of a former state of its users. */
const TOKEN_OVER = /invalid auth token|auth store is old|user name is empty/;

/** A revision that etcd has dropped. */
const MOMENT_OVER = /revision has been compacted/;

/** Access denied; retrying will not help. */
export class AccessRefusedError extends Error {}

/** etcd 3.4 or newer by its JSON gateway, which is as fast as gRPC here and needs no package. */
export class Etcd implements Kv, Leases, Watches {
  readonly #addresses: readonly URL[];
  readonly #agent: Agent;
  readonly #user: EtcdAccess['user'];
  readonly #answerMsMax: number;
  #token: string | undefined;
  /** Which member is asked; the next one after each failure. */
  #current = 0;
  /** Each on the member that is asked. */
  readonly #watches = new Set<ClientRequest>();
  #isClosed = false;

  /** @param addresses `http://host:port` of the members, or `https` */
  constructor(addresses: readonly string[], { tls, user, answerMsMax = ANSWER_MS_MAX }: EtcdAccess = {}) {
    this.#addresses = addresses.map((address) => new URL(address));
    const isSecure = this.#addresses.every(({ protocol }) => protocol === 'https:');
    this.#agent = isSecure ? new TlsAgent({ keepAlive: true, ...tls }) : new Agent({ keepAlive: true });
    this.#user = user;
    this.#answerMsMax = answerMsMax;
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
        ...puts.map(({ key, value, lease }) => ({
          request_put: { key: base64(key), value: base64(value), ...(lease !== undefined && { lease }) },
        })),
        ...deletes.map(({ from, to }) => ({
          request_delete_range: { key: base64(from), range_end: base64(to) },
        })),
      ],
    });
    return { done: answer.succeeded === true, revision: Number(answer.header?.revision) };
  }

  async range(from: string, to: string, limit = 0): Promise<KvRow[]> {
    return this.#range(from, to, { limit });
  }

  /**
   * The rows as they are now, however they change: all of them at one moment. Its `range` throws MomentOverError once etcd has dropped that
   * moment, as it does after some minutes; it takes no changes. @param prefix of what may be read @throws AnswerLostError
   */
  async moment(prefix: string): Promise<Kv> {
    const question = { key: base64(prefix), range_end: base64(behind(prefix)), count_only: true };
    const revision = (await this.#ask('/v3/kv/range', question)).header!.revision!;
    const range = ({ from, to, limit = 0 }: KvRange) =>
      this.#range(from, to, { limit, revision }).catch((error: Error) => {
        throw MOMENT_OVER.test(error.message) ? new MomentOverError(error.message) : error;
      });
    return {
      range: (from, to, limit) => range({ from, to, limit }),
      ranges: (ranges) => Promise.all(ranges.map(range)),
      commit: () => Promise.reject(new Error('what was cannot be changed')),
      close: () => undefined,
    };
  }

  async #range(
    from: string,
    to: string,
    how: { readonly limit: number; readonly revision?: string },
  ): Promise<KvRow[]> {
    const question = { key: base64(from), range_end: base64(to), ...how };
    const { kvs = [] } = await this.#ask('/v3/kv/range', question);
    return kvs.map(rowOf);
  }

  async ranges(ranges: readonly KvRange[]): Promise<KvRow[][]> {
    if (ranges.length === 0) return [];
    const { responses = [] } = await this.#ask('/v3/kv/txn', {
      success: ranges.map(({ from, to, limit = 0 }) => ({
        request_range: { key: base64(from), range_end: base64(to), limit },
      })),
    });
    return ranges.map((_, index) => (responses[index]?.response_range?.kvs ?? []).map(rowOf));
  }

  async grant(seconds: number): Promise<string> {
    const { ID } = await this.#ask('/v3/lease/grant', { TTL: String(seconds) });
    return ID!;
  }

  async renew(id: string): Promise<number> {
    const { result } = await this.#ask('/v3/lease/keepalive', { ID: id });
    return Number(result?.TTL ?? 0);
  }

  async revoke(id: string): Promise<void> {
    await this.#ask('/v3/lease/revoke', { ID: id });
  }

  watch(ranges: readonly KvRange[], onChange: () => void): () => void {
    const question = ranges
      .map(({ from, to }) => JSON.stringify({ create_request: { key: base64(from), range_end: base64(to) } }))
      .join('');
    const over = new AbortController();
    const run = async () => {
      while (!over.signal.aborted && !this.#isClosed) {
        await this.#watch(question, onChange, over.signal).catch(() => undefined);
        if (!over.signal.aborted) await realPause(WATCH_AGAIN_MS);
      }
    };
    void run();
    return () => over.abort();
  }

  /**
   * Whether this server may read below a prefix. @throws AccessRefusedError for a certificate, user or password that is not accepted;
   * AnswerLostError
   */
  async check(prefix: string): Promise<void> {
    try {
      await this.range(prefix, behind(prefix), 1);
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof AccessRefusedError) throw cause;
      const { message = '' } = (cause ?? {}) as Partial<Error>;
      if (/certificate|self.signed/i.test(message)) throw new AccessRefusedError(`etcd: ${message}`);
      throw error;
    }
  }

  /** Asks each member, in the order of the addresses. An unresponsive one yields an error. */
  members(): Promise<(EtcdMember | Error)[]> {
    return Promise.all(
      this.#addresses.map((address) =>
        this.#member(address).catch((error: Error) => new Error(`${address.host}: ${error.message}`)),
      ),
    );
  }

  /** Requests without an answer by then get none. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  async #member(address: URL): Promise<EtcdMember> {
    const {
      version = '',
      leader = '0',
      dbSize = '0',
      errors = [],
    }: Status = await this.#askAs(address, '/v3/maintenance/status', '{}');
    // A member may keep its metrics elsewhere.
    const metrics = await this.#send(new URL('/metrics', address), { method: 'GET' }).catch(() => '');
    const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0);
    const syncs = metric('etcd_disk_wal_fsync_duration_seconds_count');
    return {
      address: address.host,
      version,
      hasLeader: leader !== '0',
      dbBytes: Number(dbSize),
      quotaBytes: metric('etcd_server_quota_backend_bytes'),
      syncMs: syncs > 0 ? (1000 * metric('etcd_disk_wal_fsync_duration_seconds_sum')) / syncs : undefined,
      errors,
    };
  }

  async #ask(path: string, question: object): Promise<Answer> {
    const address = this.#addresses[this.#current % this.#addresses.length]!;
    try {
      return await this.#askAs(address, path, JSON.stringify(question));
    } catch (error) {
      // Retrying here would never terminate.
      if (this.#isClosed) return new Promise(() => undefined);
      this.#current += 1;
      // An unresponsive member does not report changes, either.
      for (const watching of this.#watches) watching.destroy();
      throw new AnswerLostError(`${address.host}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Watches until the member ends it. It reports first that it watches, which counts as a change: some may have been missed until then. */
  async #watch(question: string, onChange: () => void, signal: AbortSignal): Promise<void> {
    const asked = this.#current;
    const address = this.#addresses[asked % this.#addresses.length]!;
    if (this.#user) this.#token ??= await this.#authenticate(address, this.#user);
    const url = new URL('/v3/watch', address);
    const options = { method: 'POST', headers: this.#headers(question, this.#token), signal };
    const request = this.#request(url, options).on('error', () => undefined);
    this.#watches.add(request);
    try {
      const answer = once(request, 'response', { signal: AbortSignal.timeout(this.#answerMsMax) });
      request.end(question);
      const [response] = (await answer.catch((error: unknown) => {
        // Nothing else may be asked for long, so the watch goes to the next member by itself.
        if (this.#current === asked) this.#current += 1;
        throw error;
      })) as [IncomingMessage];
      let rest = '';
      for await (const piece of response.setEncoding('utf8')) {
        const lines = `${rest}${piece}`.split('\n');
        rest = lines.pop()!;
        if (lines.some(isRefusal)) {
          // Its token may be over.
          this.#token = undefined;
          return;
        }
        onChange();
      }
    } finally {
      this.#watches.delete(request);
      request.destroy();
    }
  }

  /** Sends a token, where there are users: a fresh one when the former has expired. */
  async #askAs<T extends object = Answer>(address: URL, path: string, question: string): Promise<T> {
    if (!this.#user) return this.#askAt(new URL(path, address), question);
    this.#token ??= await this.#authenticate(address, this.#user);
    try {
      return await this.#askAt(new URL(path, address), question, this.#token);
    } catch (error) {
      if (!TOKEN_OVER.test((error as Error).message)) throw error;
      this.#token = await this.#authenticate(address, this.#user);
      return this.#askAt(new URL(path, address), question, this.#token);
    }
  }

  async #authenticate(address: URL, user: NonNullable<EtcdAccess['user']>): Promise<string> {
    const { token } = await this.#askAt(
      new URL('/v3/auth/authenticate', address),
      JSON.stringify(user),
    ).catch((error: Error) => {
      if (!/authentication failed/.test(error.message)) throw error;
      throw new AccessRefusedError('etcd refuses the user or the password');
    });
    if (!token) throw new Error('etcd gave no token');
    return token;
  }

  async #askAt<T extends object = Answer>(address: URL, question: string, token?: string): Promise<T> {
    const headers = this.#headers(question, token);
    return JSON.parse(await this.#send(address, { method: 'POST', headers }, question)) as T;
  }

  #headers(question: string, token: string | undefined): Record<string, string | number> {
    return {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(question),
      ...(token !== undefined && { Authorization: token }),
    };
  }

  #request(address: URL, options: RequestOptions): ClientRequest {
    const open = address.protocol === 'https:' ? tlsRequest : request;
    return open(address, { ...options, agent: this.#agent });
  }

  /** @returns the body of an answer 200 */
  #send(address: URL, options: RequestOptions, body = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = this.#request(address, { ...options, signal: AbortSignal.timeout(this.#answerMsMax) });
      request.on('error', reject);
      request.on('response', (response) => {
        text(response).then((answer) => {
          if (response.statusCode === 200) resolve(answer);
          else if (/permission denied/.test(answer))
            reject(
              new AccessRefusedError('etcd does not let this user read and write the keys of the cluster'),
            );
          else reject(new Error(`${response.statusCode} ${answer.slice(0, 200)}`));
        }, reject);
      });
      request.end(body);
    });
  }
}

/** A line of a watch that ends it. */
function isRefusal(line: string): boolean {
  const { result } = JSON.parse(line) as { result?: { readonly canceled?: boolean } };
  return result === undefined || result.canceled === true;
}

function rowOf({ key, value = '', mod_revision }: StoredRow): KvRow {
  return {
    key: Buffer.from(key, 'base64').toString(),
    value: Buffer.from(value, 'base64'),
    revision: Number(mod_revision),
  };
}

function base64(part: string | Uint8Array): string {
  return Buffer.from(part as string).toString('base64');
}
