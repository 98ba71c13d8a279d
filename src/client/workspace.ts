import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type {
  DisposalAnswer,
  HistoryAnswer,
  IngestAnswer,
  Item,
  ItemsAnswer,
  SearchAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from './answers.ts';
import type { Calls } from './calls.ts';
import { FarthingError } from './error.ts';
import { type IngestOptions, ingest } from './ingest.ts';
import { type IngestManyOptions, type IngestSummary, ingestMany, type NamedSource } from './ingest-many.ts';
import { type SearchQuery, searchBody } from './search.ts';
import type { Source } from './source.ts';

/** What it takes to use a workspace: whoever has the token may. */
export interface WorkspaceAccess {
  readonly id: string;
  readonly token: string;
}

export interface ExtendOptions {
  readonly ttlMinutes?: number;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface PageOptions {
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** A rented workspace. All but `extend` is included in its price. */
export class Workspace {
  readonly id: string;
  /** Shown by the server once: keep it as long as the workspace is needed. */
  readonly token: string;
  readonly #calls: Calls;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(calls: Calls, { id, token }: WorkspaceAccess) {
    this.id = id;
    this.token = token;
    this.#calls = calls;
    this.#path = `/agent/v1/workspaces/${encodeURIComponent(id)}`;
    this.#headers = { Authorization: `Bearer ${token}` };
  }

  async search(query: SearchQuery): Promise<SearchAnswer> {
    const body = await searchBody(query);
    const signal = typeof query === 'string' ? undefined : query.signal;
    return this.#send<SearchAnswer>('POST', '/search', { body: () => body, signal });
  }

  /** Uploads one file and waits until it is searchable. */
  ingest(source: Source, options: IngestOptions = {}): Promise<IngestAnswer> {
    const target = {
      path: `${this.#path}/ingest`,
      headers: this.#headers,
      job: (job: string) => `${this.#path}/jobs/${job}`,
    };
    return ingest(this.#calls, target, source, options);
  }

  /** Uploads many files, a few at once; with a `log` an interrupted run goes on where it was. */
  ingestMany(
    sources: Iterable<NamedSource> | AsyncIterable<NamedSource>,
    options: IngestManyOptions = {},
  ): Promise<IngestSummary> {
    return ingestMany((source, one) => this.ingest(source, one), sources, options);
  }

  usage(): Promise<UsageAnswer> {
    return this.#send('GET', '/usage');
  }

  /** Past searches, newest first. `before`: the former page's `next`. */
  history({ limit, before, signal }: PageOptions & { before?: string } = {}): Promise<HistoryAnswer> {
    return this.#send('GET', `/history${query({ limit, before })}`, { signal });
  }

  /** Items in order of upload. `after`: the former page's `next`. */
  items({ limit, after, signal }: PageOptions & { after?: string } = {}): Promise<ItemsAnswer> {
    return this.#send('GET', `/items${query({ limit, after })}`, { signal });
  }

  item(id: string): Promise<Item> {
    return this.#send('GET', `/items/${encodeURIComponent(id)}`);
  }

  /** Buys more minutes (default 15). */
  async extend({ ttlMinutes, idempotencyKey, signal }: ExtendOptions = {}): Promise<WorkspaceAnswer> {
    const body = JSON.stringify({ ttl_minutes: ttlMinutes });
    return this.#send('POST', '/extend', {
      body: () => body,
      quoteBody: body,
      price: 'by body',
      idempotencyKey,
      signal,
    });
  }

  /** Destroys the workspace's data. The receipt is verified with the server's published keys. @throws receipt_invalid */
  async dispose(): Promise<DisposalAnswer> {
    const disposal = await this.#send<DisposalAnswer>('DELETE', '');
    const { body: keys } = await this.#calls.send<JSONWebKeySet>({
      method: 'GET',
      path: '/.well-known/jwks.json',
    });
    return { ...disposal, claims: await verifyReceipt(disposal.receipt, keys, this.id) };
  }

  async #send<T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    rest: Partial<Parameters<Calls['send']>[0]> = {},
  ): Promise<T> {
    const headers = { ...this.#headers, ...(rest.body && { 'Content-Type': 'application/json' }) };
    const { body } = await this.#calls.send<T>({ method, path: this.#path + path, headers, ...rest });
    return body;
  }
}

/**
 * Claims of a disposal receipt, once its signature is proved by one of the keys.
 * @throws receipt_invalid, also when it speaks of another workspace
 */
export async function verifyReceipt(
  receipt: string,
  keys: JSONWebKeySet,
  workspace?: string,
): Promise<Readonly<Record<string, unknown>>> {
  const claims = await compactVerify(receipt, createLocalJWKSet(keys), { algorithms: ['EdDSA', 'Ed25519'] })
    .then(({ payload }) => JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>)
    .catch((cause: unknown) => {
      throw new FarthingError('receipt_invalid', `The receipt is not valid: ${(cause as Error).message}.`, {
        cause,
      });
    });
  if (workspace !== undefined && claims.workspace !== workspace)
    throw new FarthingError(
      'receipt_invalid',
      `The receipt is for ${String(claims.workspace)}, not ${workspace}.`,
    );
  return claims;
}

function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
