import type {
  DisposalAnswer,
  GrepAnswer,
  HistoryAnswer,
  IngestAnswer,
  Item,
  ItemDeletedAnswer,
  ItemsAnswer,
  ItemTextAnswer,
  ReserveEndedAnswer,
  SearchAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';
import type { Call, Calls } from './calls.ts';
import {
  type ExportOptions,
  type ImportOptions,
  type ImportSummary,
  importExport,
  wholeExport,
} from './export.ts';
import { type IngestOptions, ingest } from './ingest.ts';
import { type FolderTarget, type IngestFolderOptions, ingestFolder } from './ingest-folder.ts';
import { type IngestManyOptions, type IngestSummary, ingestMany, type NamedSource } from './ingest-many.ts';
import type { Usd } from './payment/budget.ts';
import { type PreviewOptions, type PreviewPart, previewPath, queryOf } from './preview.ts';
import { type KeySet, verifyDisposal } from './receipt.ts';
import { type GrepOptions, grepBody, type SearchQuery, searchBody } from './search.ts';
import { piecesOf, type Source } from './source.ts';
import { type SyncOptions, type SyncSummary, syncFolder } from './sync-folder.ts';

/** Access to a workspace: its token is the credential. */
export interface WorkspaceAccess {
  readonly id: string;
  readonly token: string;
}

export interface ExtendOptions {
  readonly ttlMinutes?: number;
  /** The most that this call may cost, below the client's own limit. */
  readonly maxPriceUsd?: Usd;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface PageOptions {
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Where a text is to begin. */
export interface TextOptions {
  readonly page?: number;
  readonly time_s?: number;
  readonly from?: number;
  readonly signal?: AbortSignal;
}

/** How long an export may take: as long as most workspaces last. */
const EXPORT_MS = 24 * 60 * 60_000;

/** More minutes for a workspace. */
export interface ExtendWorkspaceOptions extends ExtendOptions {
  /**
   * Into reserve: they are used when the others have run out, and what is not used goes back to the wallet's prepaid money. Paid in
   * prepaid money alone, whatever the client's option `prepaid`.
   */
  readonly reserve?: boolean;
}

/** A rented workspace. All but `extend` is included in its price. */
export class Workspace {
  readonly id: string;
  /** Shown by the server once: keep it as long as the workspace is needed. */
  readonly token: string;
  readonly #calls: Calls;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  #warning: string | undefined;

  constructor(calls: Calls, { id, token }: WorkspaceAccess) {
    this.id = id;
    this.token = token;
    this.#calls = calls;
    this.#path = `/agent/v1/workspaces/${encodeURIComponent(id)}`;
    this.#headers = { Authorization: `Bearer ${token}` };
  }

  /** The last answer's warning: the workspace ends within two minutes. */
  get warning(): string | undefined {
    return this.#warning;
  }

  async search(query: SearchQuery): Promise<SearchAnswer> {
    const body = await searchBody(query);
    const signal = typeof query === 'string' ? undefined : query.signal;
    return this.#send<SearchAnswer>('POST', '/search', { body: () => body, signal });
  }

  /** Lines of the texts that match a regular expression, in Rust's syntax. */
  grep(pattern: string, options: GrepOptions = {}): Promise<GrepAnswer> {
    const body = grepBody(pattern, options);
    return this.#send('POST', '/grep', { body: () => body, signal: options.signal });
  }

  /** Uploads one file and waits until it is searchable. */
  ingest(source: Source, options: IngestOptions = {}): Promise<IngestAnswer> {
    const target = {
      path: `${this.#path}/ingest`,
      headers: this.#headers,
      job: (job: string) => `${this.#path}/jobs/${job}`,
      item: (item: string) => `${this.#path}/items/${item}`,
    };
    return ingest(this.#calls, target, source, options);
  }

  /** Uploads many files, a few at once; with a `log` an interrupted run resumes. */
  ingestMany(
    sources: Iterable<NamedSource> | AsyncIterable<NamedSource>,
    options: IngestManyOptions = {},
  ): Promise<IngestSummary> {
    return ingestMany((source, each) => this.ingest(source, each), sources, options);
  }

  /** Uploads a folder; the same call resumes after an interruption. Only where there is a file system. */
  ingestFolder(folder: string, options: IngestFolderOptions = {}): Promise<IngestSummary> {
    const many: FolderTarget['ingestMany'] = (sources, each) => this.ingestMany(sources, each);
    return ingestFolder({ name: this.id, usdEach: '0', ingestMany: many }, folder, options);
  }

  /**
   * Makes the items whose keys begin with the folder's name what the folder holds: sends what is new or changed, removes what is gone.
   * Only where there is a file system.
   */
  syncFolder(folder: string, options: SyncOptions = {}): Promise<SyncSummary> {
    return syncFolder(this, folder, options);
  }

  usage(): Promise<UsageAnswer> {
    return this.#send('GET', '/usage');
  }

  /** Past searches, newest first. `before`: the former page's `next`. */
  history({ limit, before, signal }: PageOptions & { before?: string } = {}): Promise<HistoryAnswer> {
    return this.#send('GET', `/history${queryOf({ limit, before })}`, { signal });
  }

  /** Items in order of upload. `after`: the former page's `next`. */
  items({ limit, after, signal }: PageOptions & { after?: string } = {}): Promise<ItemsAnswer> {
    return this.#send('GET', `/items${queryOf({ limit, after })}`, { signal });
  }

  item(id: string): Promise<Item> {
    return this.#send('GET', `/items/${encodeURIComponent(id)}`);
  }

  /** Removes an item from every family at once, with its file and its running job. @throws item_not_found */
  remove(id: string): Promise<ItemDeletedAnswer> {
    return this.#send('DELETE', `/items/${encodeURIComponent(id)}`);
  }

  /** Text of an item from a page, a second or a passage on: about 8,000 characters. `from`: the former answer's `next`. */
  text(item: string, { page, time_s, from, signal }: TextOptions = {}): Promise<ItemTextAnswer> {
    const query = queryOf({ page, time_s, from });
    return this.#send('GET', `/items/${encodeURIComponent(item)}/text${query}`, { signal });
  }

  /** Speech and subtitles of a film or recording as WebVTT: a text track for players. */
  async captions(item: string, { signal }: PreviewOptions = {}): Promise<string> {
    const path = `/items/${encodeURIComponent(item)}/captions`;
    return (await this.#send<Blob>('GET', path, { answer: 'blob', signal })).text();
  }

  /** A small picture (WebP) of an item: of the page or second that a hit's locator names. */
  preview(item: string, part: PreviewPart = {}, { signal }: PreviewOptions = {}): Promise<Blob> {
    return this.#send('GET', previewPath(item, part), { answer: 'blob', signal });
  }

  /** An item's stored file. */
  content(item: string, { signal }: PreviewOptions = {}): Promise<Blob> {
    return this.#send('GET', `/items/${encodeURIComponent(item)}/content`, { answer: 'blob', signal });
  }

  /**
   * All that the workspace holds, as lines of JSON, in pieces: write them to a file, or give them to another workspace's `import`. With
   * `vectors`, passages and pictures have theirs.
   * @throws source_unreadable when the answer ends too early
   */
  async *export({ content = true, vectors, signal }: ExportOptions = {}): AsyncGenerator<Uint8Array> {
    const asked = `/export?content=${content}${vectors ? '&vectors=true' : ''}`;
    const stream = await this.#send<ReadableStream<Uint8Array>>('GET', asked, {
      answer: 'stream',
      attemptMs: EXPORT_MS,
      signal,
    });
    yield* wholeExport(piecesOf(stream));
  }

  /**
   * Uploads what an export holds: the same searches find the same then. Items get new ids, and the server makes their vectors itself:
   * those in the export are left out. The same export again changes nothing.
   * @throws source_unreadable for what is no export, is incomplete or holds no files; what came before that is uploaded by then
   */
  import(source: Source, options: ImportOptions = {}): Promise<ImportSummary> {
    return importExport((sources, each) => this.ingestMany(sources, each), source, options);
  }

  /** Buys more minutes (default 15). */
  async extend({
    ttlMinutes,
    reserve,
    maxPriceUsd,
    idempotencyKey,
    signal,
  }: ExtendWorkspaceOptions = {}): Promise<WorkspaceAnswer> {
    checkMinutes(ttlMinutes);
    const body = JSON.stringify({ ttl_minutes: ttlMinutes, reserve });
    return this.#send('POST', '/extend', {
      body: () => body,
      quoteBody: body,
      price: 'by body',
      maxPriceUsd,
      idempotencyKey,
      signal,
    });
  }

  /** Ends the reserve: unused money goes back to its payer's prepaid balance. */
  endReserve(): Promise<ReserveEndedAnswer> {
    return this.#send('DELETE', '/reserve');
  }

  /**
   * Destroys the workspace's data. The receipt is verified with the server's published keys.
   * @throws receipt_invalid, receipt_unchecked: the data is destroyed nevertheless; `facts.disposal` is the server's answer
   */
  async dispose(): Promise<DisposalAnswer> {
    return this.#verified(await this.#send<DisposalAnswer>('DELETE', ''));
  }

  /**
   * The receipt of an ended workspace, for 24 hours, verified in the same way.
   * @throws workspace_unauthorized; not_found while it is live; receipt_invalid, receipt_unchecked
   */
  async receipt(): Promise<DisposalAnswer> {
    const { body } = await this.#calls.send<DisposalAnswer>({
      method: 'GET',
      path: `/agent/v1/receipts/${this.id}`,
      headers: this.#headers,
    });
    return this.#verified(body);
  }

  async #verified(disposal: DisposalAnswer): Promise<DisposalAnswer> {
    const { body: keys } = await this.#calls.send<KeySet>({
      method: 'GET',
      path: '/.well-known/jwks.json',
    });
    return verifyDisposal(disposal, keys, this.id);
  }

  async #send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, rest: Partial<Call> = {}): Promise<T> {
    const headers = { ...this.#headers, ...(rest.body && { 'Content-Type': 'application/json' }) };
    const answer = await this.#calls.send<T>({ method, path: this.#path + path, headers, ...rest });
    this.#warning = answer.headers.get('X-Workspace-TTL-Warning') ?? undefined;
    return answer.body;
  }
}

/** The server rents the least for what is below it: a negative number is a slip, which is not paid for. @throws field_invalid */
export function checkMinutes(minutes: number | undefined): void {
  if (minutes === undefined || (Number.isInteger(minutes) && minutes >= 1)) return;
  throw new FarthingError(
    'field_invalid',
    `ttlMinutes: send a whole number from 1 on, not ${minutes}. Nothing was signed.`,
    { facts: { field: 'ttl_minutes' } },
  );
}
