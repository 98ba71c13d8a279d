import type {
  HouseWorkspaceAnswer,
  HouseWorkspaceListAnswer,
  IngestAnswer,
  Item,
  PrepaidAnswer,
  PrepaidBalanceAnswer,
  PrepaidRefundAnswer,
  ReadyAnswer,
  SearchAnswer,
  WorkspaceAnswer,
} from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';
import { Calls, randomKey } from './calls.ts';
import { type IngestOptions, ingest } from './ingest.ts';
import { type IngestFolderOptions, ingestFolder } from './ingest-folder.ts';
import { type IngestManyOptions, type IngestSummary, ingestMany, type NamedSource } from './ingest-many.ts';
import { Authorizations, type Price, REFUND_PATH } from './payment/authorizations.ts';
import { Budget, type Spending, type Usd } from './payment/budget.ts';
import { accountOfSigner, type Eip1193Signer, type PaymentAccount } from './payment/wallet.ts';
import { type PreviewOptions, type PreviewPart, previewPath, queryOf } from './preview.ts';
import { type SearchQuery, searchBody } from './search.ts';
import type { Source } from './source.ts';
import {
  checkMinutes,
  type ExtendOptions,
  type PageOptions,
  Workspace,
  type WorkspaceAccess,
} from './workspace.ts';

export interface FarthingOptions {
  /** Address of the server: `http://127.0.0.1:8402`. */
  readonly baseUrl: string;
  /** Signs payments: a viem account, or a function that opens one when the first payment is signed. */
  readonly account?: PaymentAccount | (() => Promise<PaymentAccount>);
  /** Or an EIP-1193 provider: a browser wallet, a viem client. */
  readonly signer?: Eip1193Signer;
  /** The most that one call may cost; default 1 USD. */
  readonly maxPriceUsd?: Usd;
  /** The most that all calls of this client together may cost; without it there is no limit. */
  readonly budgetUsd?: Usd;
  /** Spends money that was paid by `prepay`, while there is enough: such a call needs no transaction on the chain. */
  readonly prepaid?: boolean;
  /** Asked before each signature. */
  readonly approve?: (price: Price) => boolean | Promise<boolean>;
  /** Called with each charge. */
  readonly onPayment?: (payment: { readonly usd: string; readonly transaction: string }) => void;
  /** Attempts of a call whose answer is lost; default 8, over about ten seconds. */
  readonly attemptsMax?: number;
  /** A key of the server's house (`fhk_…`): its operator's own agents pay nothing, and what they upload stays. */
  readonly key?: string;
  readonly fetch?: typeof fetch;
}

export interface HouseOptions {
  /** What it is called in lists. */
  readonly name?: string;
  /** As for a rented workspace. */
  readonly language?: string;
  readonly signal?: AbortSignal;
}

export interface CreateOptions extends ExtendOptions {
  readonly spendLimitUsd?: Usd;
  /** Language of the texts (ISO 639: `en`, `de`; `mul` for several): a text model that knows it fills the index. Default: by the first text. */
  readonly language?: string;
}

export interface PrepayOptions {
  /** The same key and amount again: paid once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** A workspace just paid for, with the server's record of it. */
export type NewWorkspace = { readonly workspace: Workspace; readonly record: WorkspaceAnswer };

const MAX_PRICE_USD = '1';
const ATTEMPTS_MAX = 8;
const HOUSE_PATH = '/house/v1/workspaces';

/**
 * A client that pays for its calls. Each is charged at most once: after a lost answer it is repeated with the same
 * authorization and the same idempotency key.
 */
export class Farthing {
  readonly baseUrl: string;
  readonly #calls: Calls;
  readonly #budget: Budget;
  readonly #account: () => Promise<PaymentAccount>;
  readonly #authorizations: Authorizations;
  readonly workspaces: {
    /** Rents a workspace. @throws price_over_limit, budget_exceeded before anything is signed */
    create(options?: CreateOptions): Promise<Workspace>;
    /** Like `create`, with the server's record. */
    rent(options?: CreateOptions): Promise<NewWorkspace>;
    /** An existing workspace. Sends nothing. */
    open(access: WorkspaceAccess): Workspace;
  };

  /** For agents of the server's operator. @throws key_unauthorized without the option `key` */
  readonly house: {
    /** Makes a workspace that stays until it is disposed of. Needs a key with the right `admin`. */
    create(options?: HouseOptions): Promise<Workspace>;
    /** Those that the key opens. `after`: the former page's `next`. */
    list(page?: PageOptions & { readonly after?: string }): Promise<HouseWorkspaceListAnswer>;
    /** One of them, opened by the key. Sends nothing. */
    open(id: string): Workspace;
  };

  constructor(options: FarthingOptions) {
    const { baseUrl, account, signer, maxPriceUsd = MAX_PRICE_USD, budgetUsd, approve, onPayment } = options;
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.#budget = new Budget(maxPriceUsd, budgetUsd);
    this.#account = () => accountOf(account, signer);
    const authorizations = new Authorizations({
      account: this.#account,
      budget: this.#budget,
      approve,
    });
    this.#authorizations = authorizations;
    this.#calls = new Calls({
      baseUrl: this.baseUrl,
      fetch: options.fetch ?? ((...call) => fetch(...call)),
      authorizations,
      attemptsMax: options.attemptsMax ?? ATTEMPTS_MAX,
      onPayment,
      prepaidWallet: async () => (options.prepaid ? (await this.#account()).address : undefined),
    });
    const rent = (wanted: CreateOptions = {}) => this.#rent(wanted);
    this.workspaces = {
      rent,
      create: async (wanted) => (await rent(wanted)).workspace,
      open: (access) => new Workspace(this.#calls, access),
    };
    const { key } = options;
    this.house = {
      create: (wanted = {}) => this.#createForHouse(keyOf(key), wanted),
      list: async ({ limit, after, signal } = {}) => {
        const path = `${HOUSE_PATH}${queryOf({ limit, after })}`;
        const call = { method: 'GET', path, headers: bearer(keyOf(key)), signal } as const;
        return (await this.#calls.send<HouseWorkspaceListAnswer>(call)).body;
      },
      open: (id) => new Workspace(this.#calls, { id, token: keyOf(key) }),
    };
  }

  /** Searches the payer's own index. */
  async search(query: SearchQuery): Promise<SearchAnswer> {
    const body = await searchBody(query);
    const { idempotencyKey, signal } = typeof query === 'string' ? {} : query;
    const answer = await this.#calls.send<SearchAnswer>({
      method: 'POST',
      path: '/agent/v1/search',
      headers: { 'Content-Type': 'application/json' },
      body: () => body,
      price: 'fixed',
      idempotencyKey,
      signal,
    });
    return answer.body;
  }

  /** Uploads one file into the payer's own index and waits until it is searchable. */
  ingest(source: Source, options: IngestOptions = {}): Promise<IngestAnswer> {
    const target = {
      path: '/agent/v1/ingest',
      price: 'fixed',
      job: (job: string) => `/agent/v1/jobs/${job}`,
    } as const;
    return ingest(this.#calls, target, source, options);
  }

  /** Uploads many files, a few at once, each paid for; with a `log` an interrupted run resumes. */
  ingestMany(
    sources: Iterable<NamedSource> | AsyncIterable<NamedSource>,
    options: IngestManyOptions = {},
  ): Promise<IngestSummary> {
    return ingestMany((source, each) => this.ingest(source, each), sources, options);
  }

  /**
   * Uploads a folder, each file paid for; `onPrice` gets the total before. The same call resumes after an interruption. Only where
   * there is a file system.
   */
  async ingestFolder(folder: string, options: IngestFolderOptions = {}): Promise<IngestSummary> {
    const { prices_usd } = await this.ready();
    const { address } = await this.#account();
    const target = {
      name: `${this.baseUrl} ${address}`,
      usdEach: prices_usd.ingest!,
      ingestMany: (sources: readonly NamedSource[], each: IngestManyOptions) =>
        this.ingestMany(sources, each),
    };
    return ingestFolder(target, folder, options);
  }

  /** Metadata of one of the payer's items. */
  async item(id: string): Promise<Item> {
    const path = `/agent/v1/items/${encodeURIComponent(id)}`;
    return (await this.#calls.send<Item>({ method: 'GET', path, price: 'fixed' })).body;
  }

  /** A small picture (WebP) for one of the payer's items, at the price of its metadata. */
  async preview(item: string, part: PreviewPart = {}, { signal }: PreviewOptions = {}): Promise<Blob> {
    const path = `/agent/v1${previewPath(item, part)}`;
    const call = { method: 'GET', path, price: 'fixed', answer: 'blob', signal } as const;
    return (await this.#calls.send<Blob>(call)).body;
  }

  /** Pays in advance, for calls of clients with the option `prepaid`. Counts against the budget now, and not when it is spent. */
  async prepay(usd: Usd, options: PrepayOptions = {}): Promise<PrepaidAnswer> {
    const answer = await this.#move<PrepaidAnswer>('/agent/v1/prepaid', usd, options);
    this.#authorizations.wasAdded();
    return answer;
  }

  /** What the wallet has prepaid, by its signature. Free. */
  async prepaidBalance(options: Pick<PrepayOptions, 'signal'> = {}): Promise<PrepaidBalanceAnswer> {
    const call = { method: 'GET', path: '/agent/v1/prepaid', price: 'fixed', ...options } as const;
    return (await this.#calls.send<PrepaidBalanceAnswer>(call)).body;
  }

  /** Has prepaid money back: the operator owes it to the wallet from then on. */
  refundPrepaid(usd: Usd, options: PrepayOptions = {}): Promise<PrepaidRefundAnswer> {
    return this.#move(REFUND_PATH, usd, options);
  }

  async #move<T>(path: string, usd: Usd, { idempotencyKey, signal }: PrepayOptions): Promise<T> {
    const body = JSON.stringify({ usd: Number(usd) });
    const answer = await this.#calls.send<T>({
      method: 'POST',
      path,
      headers: { 'Content-Type': 'application/json' },
      body: () => body,
      quoteBody: body,
      price: 'by body',
      maxPriceUsd: usd,
      idempotencyKey,
      signal,
    });
    return answer.body;
  }

  /** Prices, families and limits of the server. Free. */
  async ready(): Promise<ReadyAnswer> {
    return (await this.#calls.send<ReadyAnswer>({ method: 'GET', path: '/readyz' })).body;
  }

  /** Amounts spent so far, held and left. */
  get spending(): Spending {
    return this.#budget.spending;
  }

  async #createForHouse(key: string, { name, language, signal }: HouseOptions): Promise<Workspace> {
    const body = JSON.stringify({ name, language });
    // A repeated call, after a lost answer, makes no second one.
    const headers = { ...bearer(key), 'Content-Type': 'application/json', 'Idempotency-Key': randomKey() };
    const call = { method: 'POST', path: HOUSE_PATH, headers, body: () => body, signal } as const;
    const { id } = (await this.#calls.send<HouseWorkspaceAnswer>(call)).body;
    return new Workspace(this.#calls, { id, token: key });
  }

  async #rent({
    ttlMinutes,
    spendLimitUsd,
    language,
    maxPriceUsd,
    idempotencyKey,
    signal,
  }: CreateOptions): Promise<NewWorkspace> {
    checkMinutes(ttlMinutes);
    const spend_limit_usd = spendLimitUsd === undefined ? undefined : Number(spendLimitUsd);
    const body = JSON.stringify({ ttl_minutes: ttlMinutes, spend_limit_usd, language });
    const answer = await this.#calls.send<WorkspaceAnswer & { capability_token?: string }>({
      method: 'POST',
      path: '/agent/v1/workspaces',
      headers: { 'Content-Type': 'application/json' },
      body: () => body,
      quoteBody: body,
      price: 'by body',
      maxPriceUsd,
      idempotencyKey,
      signal,
    });
    const { capability_token: token, ...record } = answer.body;
    if (token === undefined)
      throw new FarthingError(
        'workspace_unauthorized',
        `The workspace ${record.id} has ended: ${record.state}.`,
      );
    return { workspace: new Workspace(this.#calls, { id: record.id, token }), record };
  }
}

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

function keyOf(key: string | undefined): string {
  if (key !== undefined) return key;
  throw new FarthingError('key_unauthorized', 'This is for the house: give the client the option `key`.');
}

async function accountOf(
  account: FarthingOptions['account'],
  signer: Eip1193Signer | undefined,
): Promise<PaymentAccount> {
  if (account) return typeof account === 'function' ? account() : account;
  if (signer) return accountOfSigner(signer);
  throw new FarthingError('wallet_missing', 'This call is paid: give the client an account or a signer.');
}
