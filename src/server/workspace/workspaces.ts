import type { SpaceSpec } from '@farthing/engine/space';
import type { Address } from '@farthing/protocol/address';
import { type Clock, MINUTE_MS } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { isHouseKey, type Right } from '@farthing/protocol/house';
import {
  idFrom,
  type LeadsHere,
  newId,
  parseId,
  payerTenantId,
  type StepId,
  type WorkspaceId,
} from '@farthing/protocol/id';
import { formatUsd } from '@farthing/protocol/money';
import type {
  DisposalAnswer,
  ReserveEndedAnswer,
  WorkspaceAnswer,
} from '@farthing/protocol/schema/workspaces';
import type { Store } from '../state/store.ts';
import { Activity } from './activity/activity.ts';
import { Disposals, disposalAnswer } from './disposal/disposal.ts';
import type { ReceiptSigner } from './disposal/receipt.ts';
import type { KeptElsewhere, RemoveCopies } from './disposal/receipt-claims.ts';
import { Sweeper } from './disposal/sweeper.ts';
import { HOUSE, type HouseKeys, mustMay, opens } from './house/house-keys.ts';
import { type CreationInput, checkSpendLimit, WorkspacePrices } from './prices.ts';
import { Extensions } from './records/extensions.ts';
import { PendingEffects, type PendingExtension } from './records/pending-effects.ts';
import { WorkspaceRecords } from './records/records.ts';
import { hashOfToken, newToken, unauthorized } from './records/token.ts';
import type { TenantFolders } from './tenant/folders.ts';
import { RunningRequests } from './tenant/running-requests.ts';
import type { RentedTime } from './time/rented-time.ts';
import { WORKSPACE_SETTINGS, type WorkspaceSettings } from './time/settings.ts';
import { extendedWorkspace } from './views/public-record.ts';
import { WorkspaceViews } from './views/views.ts';
import type { ReserveReturn, WorkspacePricing, WorkspaceRecord } from './workspace.ts';

export interface WorkspacesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: RentedTime;
  readonly tenants: TenantFolders;
  readonly pricing: WorkspacePricing;
  readonly signer: Pick<ReceiptSigner, 'sign'>;
  /** Base URL of this server: `iss` of the receipts. Read at each signing, since it may be known only once the server listens. */
  readonly issuer: string;
  /** Cancels the workspace's jobs and waits for them. Called twice for each disposal. */
  readonly stopTenant: (tenant: WorkspaceId) => Promise<void>;
  /** The server's limits, as every workspace's record shows them. */
  readonly limits: Readonly<Record<string, unknown>>;
  readonly links: (id: WorkspaceId) => Readonly<Record<string, string>>;
  /** For people: the model that fills a space of an index. */
  readonly weightsOf?: (space: SpaceSpec) => string | undefined;
  /** Data that other components retain of a disposed workspace, for its receipt. */
  readonly keptElsewhere?: KeptElsewhere;
  /** Keys that open the workspaces of the house; absent: there is no house here. */
  readonly house?: HouseKeys;
  /** Other threads that read workspaces; absent: none do. */
  readonly readers?: OtherReaders;
  /** Absent: no other server has a copy of anything. */
  readonly removeCopies?: RemoveCopies;
  /** Whether encrypted copies of the workspaces' content exist beyond this disk; absent: none do. */
  readonly hasCopies?: boolean;
  readonly settings?: Partial<WorkspaceSettings>;
  /** Whether a new workspace's id belongs to this store; absent: every id does. */
  readonly leadsHere?: LeadsHere;
  readonly log: (event: object) => void;
}

/** Other threads that read workspaces by themselves. */
export interface OtherReaders {
  /** A record or its token has changed: from now on nobody reads by what was before. */
  changed(id: WorkspaceId): void;
  /** Resolves when nobody reads a workspace that has ended, and all that was counted is counted here. */
  left(id: WorkspaceId): Promise<void>;
  /** Resolves when all that was counted is counted here. */
  counted(): Promise<void>;
}

export interface ExtensionInput {
  readonly payer: Address;
  readonly ttlMinutes?: number | null;
  /** For the reserve, paid in this prepaid money. */
  readonly reserveMoney?: string | undefined;
  /** The request carried the workspace's token: a refusal may show the workspace's figures. */
  readonly showFigures?: boolean;
}

/** A workspace after its creation was paid. Without a token once it has ended. */
export interface CreatedWorkspace {
  readonly record: WorkspaceAnswer;
  readonly token?: string;
}

function endless(): FarthingError {
  return new FarthingError(
    'ttl_limit_exceeded',
    'A workspace of the house has no end: there is nothing to extend. Nothing was charged.',
  );
}

/** Looked up for an invalid id, so that both take the same time. */
const UNKNOWN_ID = idFrom('workspace', '0'.repeat(32));

/**
 * The rented workspaces: creation and extension as effects of payments, tokens, clock, budget, usage and end. Everything
 * that was answered is on the disk. After a crash at any time, `resume` completes what was under way.
 */
export class Workspaces {
  readonly prices: WorkspacePrices;
  /** Workspaces as clients see them. */
  readonly views: WorkspaceViews;
  /** Counters and past searches. */
  readonly activity: Activity;
  readonly #deps: WorkspacesDeps;
  readonly #records: WorkspaceRecords;
  readonly #extensions: Extensions;
  readonly #requests = new RunningRequests();
  readonly #disposals: Disposals;
  readonly #sweeper: Sweeper;
  readonly #pendingEffects: PendingEffects;

  constructor(deps: WorkspacesDeps) {
    const { store, clock, time, tenants, pricing, log, keptElsewhere = () => [], hasCopies = false } = deps;
    const { removeCopies = async () => ({ removed: [], left: [] }), readers } = deps;
    const settings = { ...WORKSPACE_SETTINGS, ...deps.settings };
    this.prices = new WorkspacePrices(pricing);
    this.#deps = deps;
    const pendingEffects = new PendingEffects(store);
    const records = new WorkspaceRecords({
      store,
      clock,
      time,
      settings,
      pendingEffects,
      ...(readers && { onChanged: (id: WorkspaceId) => readers.changed(id) }),
    });
    const extensions = new Extensions({ store, time, records, pricing, settings, pendingEffects, log });
    const activity = new Activity({
      store,
      clock,
      folder: (id) => tenants.folder(id),
      isOpen: (id) => records.isOpen(id),
      ...(readers && { counted: () => readers.counted() }),
      log,
    });
    this.#pendingEffects = pendingEffects;
    this.#records = records;
    this.#extensions = extensions;
    this.activity = activity;
    this.views = new WorkspaceViews({ ...deps, records, activity });
    this.#disposals = new Disposals({
      ...deps,
      records,
      settings,
      activity,
      requests: this.#requests,
      othersLeft: async (id) => readers?.left(id),
      issuer: () => deps.issuer,
      keptElsewhere,
      removeCopies,
      hasCopies,
    });
    this.#sweeper = new Sweeper({ records, settings, log, time, extensions, disposals: this.#disposals });
  }

  /** Durable, but unusable until `commitCreation`. @throws spend_limit_exceeded with the figures. */
  async create(input: CreationInput): Promise<{ id: WorkspaceId }> {
    const price = this.prices.creation(input);
    checkSpendLimit(price, input);
    const { ttlMinutes = null, spendLimit = null, payer, language } = input;
    const id = newId('workspace', this.#deps.leadsHere);
    await this.#records.insert({
      id,
      ...(payer && { payer }),
      ttlMinutesAsked: ttlMinutes,
      ttlMinutes: price.minutes,
      price: price.amount,
      spendLimit,
      ...(language !== undefined && { language }),
    });
    return { id };
  }

  /**
   * A workspace of the house, which begins at once and stays until it is disposed of.
   * @param request the same text again gets the same workspace, as it is by then; undefined: every call makes one
   * @throws tenant_full
   */
  async createForHouse(
    { name, language }: { name?: string; language?: string },
    request?: string,
  ): Promise<WorkspaceRecord> {
    const id =
      request === undefined ? newId('workspace') : idFrom('workspace', hashOfToken(request).slice(0, 32));
    const house = { ...(name !== undefined && { name }) };
    return this.#records.insertHouse({ id, house, ...(language !== undefined && { language }) });
  }

  /** Workspaces of the house that hold data, in order of their ids, after `after`. */
  ofHouse(after?: WorkspaceId): Iterable<WorkspaceRecord> {
    return this.#records.house(after);
  }

  /** The language that it was made for, as ISO 639-3; undefined where the first text tells. */
  languageOf(id: WorkspaceId): string | undefined {
    return this.#records.get(id)?.language;
  }

  /** Who has it in every share, until it is disposed of: the wallet that paid for it, or the house. */
  ownerOf(id: WorkspaceId): string | undefined {
    const { payer, house } = this.#records.get(id) ?? {};
    return house ? HOUSE : payer && payerTenantId(payer);
  }

  /** A workspace that is active and within its time, and the hash of the token that opens it; undefined for any other. */
  opened(id: WorkspaceId): { readonly record: WorkspaceRecord; readonly tokenHash: string } | undefined {
    const record = this.#records.get(id);
    const tokenHash = this.#records.tokenHash(id);
    return record && tokenHash !== undefined && this.#records.isLive(record)
      ? { record, tokenHash }
      : undefined;
  }

  /** The creation is paid: its minutes begin. Repeated, it replaces the token and gives no new minutes. */
  async commitCreation(id: WorkspaceId): Promise<CreatedWorkspace> {
    const token = newToken();
    return this.#withToken(await this.#records.activate(id, hashOfToken(token)), token);
  }

  /** The payment failed: removes the creation. @throws internal for a paid one. */
  async undoCreation(id: WorkspaceId): Promise<void> {
    const record = await this.#disposals.end(id, 'payment_failed');
    if (record) throw new FarthingError('internal', `workspace ${id} is paid and cannot be undone`);
  }

  /** The answer to a creation again. The token is replaced. */
  async reissue(id: WorkspaceId): Promise<CreatedWorkspace> {
    const token = newToken();
    return this.#withToken(await this.#records.replaceToken(id, hashOfToken(token)), token);
  }

  #withToken(record: WorkspaceRecord, token: string): CreatedWorkspace {
    const shown = this.views.ofRecord(record);
    return shown.state === 'active' ? { record: shown, token } : { record: shown };
  }

  /** Creations whose payment is open. A start reads them once, to undo those that no payment knows. */
  pendingCreations(): WorkspaceId[] {
    return this.#pendingEffects.creations();
  }

  /** Extensions whose payment is open, in this store or in others. */
  pendingExtensions(): PendingExtension[] {
    return this.#pendingEffects.extensions();
  }

  /**
   * Reserves an extension until `commitExtension` or `undoExtension`.
   * @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited
   */
  async extend(
    id: string,
    { payer, ttlMinutes = null, reserveMoney, showFigures = false }: ExtensionInput,
  ): Promise<{ workspace: WorkspaceId; step: StepId }> {
    const workspace = parseId('workspace', id);
    if (!workspace) throw unauthorized();
    if (this.#records.get(workspace)?.house) throw showFigures ? endless() : unauthorized();
    const { minutes, amount: price } = this.prices.extension(ttlMinutes);
    const request = { payer, minutes, minutesAsked: ttlMinutes, price, reserveMoney, showFigures };
    return { workspace, step: await this.#extensions.reserve(workspace, request) };
  }

  /** The extension is paid: adds its minutes to what is left. Idempotent. */
  async commitExtension(id: StepId): Promise<WorkspaceAnswer> {
    const { record, step } = await this.#extensions.commit(id);
    return extendedWorkspace(record, step, this.#deps.time, this.#deps.limits);
  }

  /** The payment failed: removes the extension. @throws internal for a paid one. */
  undoExtension(id: StepId): Promise<void> {
    return this.#extensions.undo(id);
  }

  /** The answer to an extension again. */
  async reissueExtension(id: StepId): Promise<WorkspaceAnswer> {
    const { record, step } = this.#extensions.committed(id);
    return extendedWorkspace(record, step, this.#deps.time, this.#deps.limits);
  }

  /** Ends the reserve: unused money goes back to its payer. Once more changes nothing. @throws workspace_unauthorized */
  async endReserve(id: WorkspaceId): Promise<ReserveEndedAnswer> {
    if (this.#records.get(id)?.house)
      throw new FarthingError(
        'prepaid_unavailable',
        'A workspace of the house costs nothing: it has no reserve.',
      );
    const ended = await this.#records.endReserves(id);
    if (!ended) throw unauthorized();
    const { before, after } = ended;
    const { expires_at, ttl_seconds_left } = this.views.ofRecord(after);
    const minutes = Math.round((before.endsAt - after.endsAt) / MINUTE_MS);
    const returned_usd = formatUsd(before.spend - after.spend);
    return { id, expires_at, ttl_seconds_left, returned_minutes: minutes, returned_usd };
  }

  /** Refunds due to wallets for unused minutes in reserve. */
  returns(limit: number, after?: StepId): ReserveReturn[] {
    return this.#records.reserves.due(limit, after);
  }

  /** The wallet's store has it. */
  returned(step: StepId): Promise<void> {
    return this.#records.reserves.returned(step);
  }

  /**
   * The workspace that this token, or key of the house, opens: active and within its time. Counts the request of a key.
   * @param needed of a key; a token has every right
   * @throws workspace_unauthorized for everything else: one error, after the same work; right_missing, rate_limited for a key
   */
  authenticate(id: string, token: string | undefined, needed: Right = 'read'): WorkspaceRecord {
    const record = this.#admitted(id, token, needed);
    if (!record || !this.#records.isLive(record)) throw unauthorized();
    return record;
  }

  /** As `authenticate`, of a token that has opened its workspace of late; undefined where that is to decide. */
  openedLately(id: string, token: string): WorkspaceRecord | undefined {
    const record = this.#records.ofTokenLately(id as WorkspaceId, token);
    return record && this.#records.isLive(record) ? record : undefined;
  }

  /** Whether a record is still the latest, and within its time. */
  stillOpens(record: WorkspaceRecord): boolean {
    return this.#records.latest(record.id) === record && this.#records.isLive(record);
  }

  /** Whether `authenticate` would succeed. */
  tokenOpens(id: string, token: string | undefined): boolean {
    const record = this.#ofToken(id, token);
    return record !== undefined && this.#records.isLive(record);
  }

  #ofToken(id: string, token: string | undefined): WorkspaceRecord | undefined {
    const workspace = parseId('workspace', id) ?? UNKNOWN_ID;
    const key = isHouseKey(token) ? this.#deps.house?.of(token) : undefined;
    if (!key) return this.#records.ofToken(workspace, token);
    const record = this.#records.get(workspace);
    return record?.house && opens(key, workspace) ? record : undefined;
  }

  #admitted(id: string, token: string | undefined, needed: Right): WorkspaceRecord | undefined {
    const key = isHouseKey(token) ? this.#deps.house?.of(token) : undefined;
    if (key) this.#deps.house?.admit(key);
    const record = this.#ofToken(id, token);
    if (key && record) mustMay(key, needed);
    return record;
  }

  /**
   * A request begins in the workspace; a disposal waits for it, but not for what its client still sends.
   * @param giveUp called when a disposal begins
   * @returns a function to call at its end.
   */
  enter(id: WorkspaceId, giveUp?: () => void): () => void {
    return this.#requests.enter(id, giveUp);
  }

  /**
   * DELETE: destroys the workspace's data and returns the signed receipt. A repeated DELETE gets the same receipt for 24
   * hours. @throws workspace_unauthorized; right_missing, rate_limited for a key
   */
  async dispose(id: string, token: string | undefined): Promise<DisposalAnswer> {
    const record = this.#admitted(id, token, 'admin');
    if (!record || !this.#records.mayDelete(record)) throw unauthorized();
    const disposed = await this.#disposals.end(record.id, 'deleted');
    if (disposed?.end?.reason !== 'deleted') throw unauthorized();
    return disposalAnswer(disposed);
  }

  /**
   * The receipt of a workspace that was deleted or has expired, for 24 hours.
   * @throws workspace_unauthorized; not_found while it is live
   */
  async receipt(id: string, token: string | undefined): Promise<DisposalAnswer> {
    const record = this.#admitted(id, token, 'read');
    if (!record) throw unauthorized();
    if (this.#records.isLive(record))
      throw new FarthingError(
        'not_found',
        'The workspace is not over. DELETE ends it and answers with the receipt.',
      );
    if (!this.#records.mayHaveReceipt(record)) throw unauthorized();
    const disposed = await this.#disposals.end(record.id, 'expired');
    if (!disposed?.end?.tokenKept) throw unauthorized();
    return disposalAnswer(disposed);
  }

  /** The operator ends a workspace. @throws not_found. */
  async disposeAsOperator(id: WorkspaceId): Promise<DisposalAnswer> {
    const disposed = await this.#disposals.end(id, 'operator');
    if (!disposed || disposed.state === 'pending')
      throw new FarthingError('not_found', `There is no workspace ${id}.`);
    return disposalAnswer(disposed);
  }

  /**
   * To be called about once a second: writes counters, disposes of what has expired, forgets what is due.
   * @param beats writes the clock, too
   */
  async sweep(beats = true): Promise<void> {
    if (beats) await this.#deps.time.beat();
    // Counters that cannot be written must not delay a disposal.
    await Promise.all([this.activity.flush(), this.#sweeper.sweep()]);
  }

  /** At start: resumes interrupted disposals. Requests may be served at the same time. */
  resume(): Promise<void> {
    return this.#sweeper.sweep();
  }

  /** Waits for running disposals and writes what is only in memory. The store stays open. */
  async close(): Promise<void> {
    this.#sweeper.stop();
    await this.#disposals.whenIdle();
    await this.activity.flush();
    await this.#deps.time.beat();
  }
}
