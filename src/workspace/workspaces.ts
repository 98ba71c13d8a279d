import type { Clock } from '../domain/clock.ts';
import { FarthingError } from '../domain/error.ts';
import { idFrom, newId, parseId, type StepId, type WorkspaceId, workspaceOfStep } from '../domain/id.ts';
import {
  creationPrice,
  extensionPrice,
  type WorkspacePricing,
  type WorkspaceRecord,
} from '../domain/workspace.ts';
import type { Store } from '../state/store.ts';
import { Activity, type CountedSearch } from './activity/activity.ts';
import type { HistoryPage } from './activity/history.ts';
import { type DisposalAnswer, Disposals, disposalAnswer } from './disposal/disposal.ts';
import type { ReceiptSigner } from './disposal/receipt.ts';
import type { KeptElsewhere } from './disposal/receipt-claims.ts';
import { Sweeper } from './disposal/sweeper.ts';
import {
  type CreationInput,
  type CreationQuote,
  checkedPrice,
  type Price,
  type PriceRange,
  quoteOfCreation,
  quoteOfExtension,
  rangeOf,
} from './prices.ts';
import { Extensions } from './records/extensions.ts';
import { PendingEffects } from './records/pending-effects.ts';
import { WorkspaceRecords } from './records/records.ts';
import { hashOfToken, newToken, tokenMatches } from './records/token.ts';
import { unauthorized } from './records/unauthorized.ts';
import type { TenantFolders } from './tenant/folders.ts';
import { RunningRequests } from './tenant/running-requests.ts';
import type { RentedTime } from './time/rented-time.ts';
import { WORKSPACE_SETTINGS, type WorkspaceSettings } from './time/settings.ts';
import { extendedWorkspace, type PublicWorkspace } from './views/public-record.ts';
import { type WorkspacePage, type WorkspaceUsage, WorkspaceViews } from './views/views.ts';

export interface WorkspacesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: RentedTime;
  readonly tenants: TenantFolders;
  readonly pricing: WorkspacePricing;
  readonly signer: Pick<ReceiptSigner, 'sign'>;
  /** Base URL of this server: `iss` of the receipts. Read at each signing: it may be known only once the server listens. */
  readonly issuer: string;
  /** Cancels the Tenant's jobs and waits for them. Called twice for each disposal. */
  readonly stopTenant: (tenant: WorkspaceId) => Promise<void>;
  /** What the server allows every workspace, as its record shows it. */
  readonly limits: Readonly<Record<string, unknown>>;
  readonly links: (id: WorkspaceId) => Readonly<Record<string, string>>;
  /** What other deps keep of a disposed workspace; stands in the receipt. */
  readonly keptElsewhere?: KeptElsewhere;
  readonly settings?: Partial<WorkspaceSettings>;
  readonly log: (event: object) => void;
}

export interface ExtensionInput {
  readonly ttlMinutes?: number | null;
  /** The workspace's token was sent too: a refusal may show the workspace's figures. */
  readonly showFigures?: boolean;
}

/**
 * The rented sandboxes: creation and extension as effects of payments, tokens, clock, budget, usage and end. Everything
 * that was answered is on the disk; a crash at any moment is made good by `resume`.
 */
export class Workspaces {
  readonly #deps: WorkspacesDeps;
  readonly #time: RentedTime;
  readonly #records: WorkspaceRecords;
  readonly #extensions: Extensions;
  readonly #activity: Activity;
  readonly #requests = new RunningRequests();
  readonly #disposals: Disposals;
  readonly #sweeper: Sweeper;
  readonly #pendingEffects: PendingEffects;
  readonly #views: WorkspaceViews;

  constructor(deps: WorkspacesDeps) {
    const { store, clock, time, tenants, pricing, log, keptElsewhere = () => [] } = deps;
    const settings = { ...WORKSPACE_SETTINGS, ...deps.settings };
    this.#deps = deps;
    this.#time = time;
    this.#pendingEffects = new PendingEffects(store);
    const pendingEffects = this.#pendingEffects;
    this.#records = new WorkspaceRecords({ store, clock, time, settings, pendingEffects });
    this.#extensions = new Extensions({
      store,
      time,
      records: this.#records,
      pricing,
      settings,
      pendingEffects,
      log,
    });
    this.#activity = new Activity({ store, clock, folder: (tenant) => tenants.folder(tenant), log });
    this.#views = new WorkspaceViews({ ...deps, records: this.#records, activity: this.#activity });
    const shared = { records: this.#records, settings, log };
    this.#disposals = new Disposals({
      ...deps,
      ...shared,
      activity: this.#activity,
      requests: this.#requests,
      issuer: () => deps.issuer,
      keptElsewhere,
    });
    this.#sweeper = new Sweeper({
      ...shared,
      time,
      extensions: this.#extensions,
      disposals: this.#disposals,
    });
  }

  /** Price of a creation. `notice` says why it would be refused even if paid: shown in the 402's `error`. */
  price(input: CreationInput): CreationQuote {
    return quoteOfCreation(this.#deps.pricing, input);
  }

  priceRange(): PriceRange {
    return rangeOf(this.#deps.pricing, creationPrice);
  }

  /** Price of an extension: no base. */
  priceExtension({ ttlMinutes }: ExtensionInput): Price {
    return quoteOfExtension(this.#deps.pricing, ttlMinutes);
  }

  extensionPriceRange(): PriceRange {
    return rangeOf(this.#deps.pricing, extensionPrice);
  }

  /** Durable, but not usable until `commitCreation`. @throws spend_limit_exceeded with the figures. */
  async create(input: CreationInput): Promise<{ id: WorkspaceId }> {
    const { minutes, amount } = checkedPrice(this.#deps.pricing, input);
    const { ttlMinutes = null, spendLimit = null } = input;
    const id = newId('workspace');
    await this.#records.insert({
      id,
      ttlMinutesAsked: ttlMinutes,
      ttlMinutes: minutes,
      price: amount,
      spendLimit,
    });
    return { id };
  }

  /** The creation is paid: its minutes begin. Repeated, they don't begin again, and the former token is dead. */
  async commitCreation(id: WorkspaceId): Promise<{ record: PublicWorkspace; token?: string }> {
    const token = newToken();
    return this.#withToken(await this.#records.activate(id, hashOfToken(token)), token);
  }

  /** The payment failed: nothing of the creation stays. @throws internal for a paid one. */
  async undoCreation(id: WorkspaceId): Promise<void> {
    const record = await this.#disposals.end(id, 'payment_failed');
    if (record) throw new FarthingError('internal', `workspace ${id} is paid and cannot be undone`);
  }

  /** The answer of a creation again: with a new token, the former one is dead; of an ended one the record alone. */
  async reissue(id: WorkspaceId): Promise<{ record: PublicWorkspace; token?: string }> {
    const token = newToken();
    return this.#withToken(await this.#records.replaceToken(id, hashOfToken(token)), token);
  }

  #withToken(record: WorkspaceRecord, token: string): { record: PublicWorkspace; token?: string } {
    const shown = this.#views.ofRecord(record);
    return shown.state === 'active' ? { record: shown, token } : { record: shown };
  }

  /** Ids of the creations that wait for their payment: read once at a start, to undo those that no payment knows. */
  pendingCreations(): WorkspaceId[] {
    return this.#pendingEffects.creations();
  }

  /** Steps that wait for their payment: read once at a start, to undo those that no payment knows. */
  pendingExtensions(): { workspace: WorkspaceId; step: StepId }[] {
    return this.#pendingEffects.extensions().map((step) => ({ workspace: workspaceOfStep(step), step }));
  }

  /**
   * Reserves an extension until `commitExtension` or `undoExtension`.
   * @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited
   */
  async extend(
    id: string,
    { ttlMinutes = null, showFigures = false }: ExtensionInput,
  ): Promise<{ step: StepId }> {
    const workspace = parseId('workspace', id);
    if (!workspace) throw unauthorized();
    const { minutes, amount } = this.priceExtension({ ttlMinutes });
    return {
      step: await this.#extensions.reserve(workspace, {
        minutes,
        minutesAsked: ttlMinutes,
        price: amount,
        showFigures,
      }),
    };
  }

  /** The extension is paid: adds its minutes to what is left. Repeated, it changes nothing. */
  async commitExtension(stepId: StepId): Promise<PublicWorkspace> {
    const { record, step } = await this.#extensions.commit(stepId);
    return extendedWorkspace(record, step, this.#time, this.#deps.limits);
  }

  /** The payment failed: nothing of the extension stays. @throws internal for a paid one. */
  undoExtension(stepId: StepId): Promise<void> {
    return this.#extensions.undo(stepId);
  }

  async reissueExtension(stepId: StepId): Promise<PublicWorkspace> {
    const { record, step } = this.#extensions.committed(stepId);
    return extendedWorkspace(record, step, this.#time, this.#deps.limits);
  }

  /**
   * The workspace that this token opens, active and within its time.
   * @throws workspace_unauthorized: one error, after the same work, for everything else.
   */
  authenticate(id: string, token: string | undefined): WorkspaceRecord {
    const record = this.#holdersRecord(id, token);
    if (!record || !this.#records.isLive(record)) throw unauthorized();
    return record;
  }

  /** True when `authenticate` would not throw. */
  tokenOpens(id: string, token: string | undefined): boolean {
    const record = this.#holdersRecord(id, token);
    return record !== undefined && this.#records.isLive(record);
  }

  /** The record of whatever state whose kept hash is this token's. */
  #holdersRecord(id: string, token: string | undefined): WorkspaceRecord | undefined {
    const known = parseId('workspace', id) ?? UNKNOWN_ID;
    return tokenMatches(token, this.#records.tokenHash(known)) ? this.#records.get(known) : undefined;
  }

  /** A request begins in the workspace: a disposal waits for it. @returns what it calls when it ends. */
  enter(id: WorkspaceId): () => void {
    return this.#requests.enter(id);
  }

  /** The record as shown to its holder; undefined for an unknown id. */
  show(id: WorkspaceId): PublicWorkspace | undefined {
    return this.#views.show(id);
  }

  /** Up to `limit` workspaces as the operator sees them, in the order of their ids. */
  list(options: { after?: string; limit: number }): WorkspacePage {
    return this.#views.list(options);
  }

  /** Seconds and dollars left, for every answer of a workspace; none for an unknown one. */
  headers(id: WorkspaceId): Record<string, string> {
    return this.#views.headers(id);
  }

  /** RFC 3339 of the end of the paid time as it looks now; null for an unknown workspace. */
  expiry(id: WorkspaceId): string | null {
    return this.#views.expiry(id);
  }

  countSearch(id: WorkspaceId, search: CountedSearch): void {
    if (this.#isOpen(id)) this.#activity.countSearch(id, search);
  }

  countIngest(id: WorkspaceId): void {
    if (this.#isOpen(id)) this.#activity.countIngest(id);
  }

  /** @throws workspace_unauthorized for an unknown workspace. */
  usage(id: WorkspaceId): Promise<WorkspaceUsage> {
    return this.#views.usage(id);
  }

  /** Past searches, newest first; `before` is the former page's `next`. */
  history(id: WorkspaceId, page: { before?: string; limit: number }): Promise<HistoryPage> {
    return this.#activity.history(id, page);
  }

  /**
   * DELETE: destroys the workspace's data and answers with the signed receipt; the same again for 24 hours.
   * @throws workspace_unauthorized
   */
  async dispose(id: string, token: string | undefined): Promise<DisposalAnswer> {
    const record = this.#holdersRecord(id, token);
    if (!record || !this.#mayDelete(record)) throw unauthorized();
    const disposed = await this.#disposals.end(record.id, 'deleted');
    if (disposed?.end?.reason !== 'deleted') throw unauthorized();
    return disposalAnswer(disposed);
  }

  #mayDelete(record: WorkspaceRecord): boolean {
    if (this.#records.isLive(record)) return true;
    if (record.end?.reason !== 'deleted') return false;
    return record.state === 'disposing' || !this.#records.repeatsAreOver(record);
  }

  /** The operator's end of a workspace. @throws not_found. */
  async disposeAsOperator(id: WorkspaceId): Promise<DisposalAnswer> {
    const disposed = await this.#disposals.end(id, 'operator');
    if (!disposed || disposed.state === 'pending')
      throw new FarthingError('not_found', `There is no workspace ${id}.`);
    return disposalAnswer(disposed);
  }

  /** To be called about once a second: keeps the clock and the counters, disposes what has expired, forgets what is due. */
  async sweep(): Promise<void> {
    await this.#time.beat();
    // Counters that cannot be written must not keep what has expired.
    await Promise.all([this.#activity.flush(), this.#sweeper.sweep()]);
  }

  /** At start: goes on with the disposals that a crash or a stop interrupted. Requests may be served meanwhile. */
  resume(): Promise<void> {
    return this.#sweeper.sweep();
  }

  /** Waits for running disposals and keeps what is only in memory. The store stays open. */
  async close(): Promise<void> {
    this.#sweeper.stop();
    await this.#disposals.whenIdle();
    await this.#activity.flush();
    await this.#time.beat();
  }

  /** What the activity holds in memory was open a moment ago, and it knows itself what it has closed. */
  #isOpen(id: WorkspaceId): boolean {
    if (this.#activity.has(id)) return true;
    const state = this.#records.get(id)?.state;
    return state === 'active' || state === 'disposing';
  }
}

/** Looked up in the place of what cannot be an id, so that it costs the same. */
const UNKNOWN_ID = idFrom('workspace', '0'.repeat(32));
