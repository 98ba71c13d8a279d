import type { GateHealth } from '@farthing/payment/gate/gate';
import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import { Ledger } from '@farthing/payment/records/ledger';
import type { WorkspaceId } from '@farthing/protocol/id';
import type { PreviousModel } from '@farthing/protocol/schema/service';
import { LiveBackup } from '../operator/backup/live-backup.ts';
import type { Credits } from '../purchases/credits.ts';
import type { WorkspacePage } from '../workspace/views/views.ts';
import { type Books, recoverBooks } from './books.ts';
import type { Placement } from './placement.ts';
import type { Runtime } from './process.ts';

/** With many stores, each writes its clock only every this many sweeps. */
const SWEEPS_PER_BEAT_MAX = 5;
/** An index without a request for this long is closed; opening it again takes milliseconds. */
const SHARD_IDLE_MS = 600_000;

/** All stores at this server, seen as one. */
export class AllBooks {
  readonly placement: Placement;
  readonly backup: LiveBackup;
  readonly #runtime: Runtime;
  #sweeps = 0;

  constructor(runtime: Runtime, placement: Placement) {
    const { data, tenants, files, encoder, clock, event, kept } = runtime;
    this.placement = placement;
    this.#runtime = runtime;
    this.backup = new LiveBackup({
      data,
      books: () => {
        placement.mustHaveAll();
        return placement.all;
      },
      whileApart: (work) => placement.apart(work),
      ...(kept && { makeAlone: (copy) => kept.makeAlone(copy) }),
      tenants,
      files,
      spaces: encoder.spaces,
      clock,
      log: event,
    });
  }

  get #all(): readonly Books[] {
    return this.placement.all;
  }

  /** Prepaid balances and credits of each store. */
  get owing(): readonly { readonly prepaid: PrepaidBalances; readonly credits: Credits }[] {
    return this.#all.map(({ services, credits }) => ({ prepaid: services.prepaid, credits }));
  }

  get ledger(): Ledger {
    return new Ledger(this.#all.map(({ services }) => services.gate.journal));
  }

  /** Recovers from a crash. Disposals come before anything uses their Tenants. */
  async recover(): Promise<void> {
    const { payments, tenants } = this.#runtime;
    await payments.connect();
    if (this.#all.length > 0) await tenants.resumeDisposals();
    await recoverBooks(this.#all);
    await Promise.all(this.#all.map((books) => books.resumeJobs()));
  }

  /** Called once a second. */
  async sweep(): Promise<void> {
    const { tenants, signer, log } = this.#runtime;
    this.#sweeps += 1;
    // Another server may have destroyed a key.
    void signer.refresh();
    const period = Math.max(1, Math.min(SWEEPS_PER_BEAT_MAX, this.#all.length));
    const beats = (number: number) => (this.#sweeps + number) % period === 0;
    await Promise.all(this.#all.map((books, number) => books.sweep(beats(number))));
    await this.placement.sweep();
    await tenants
      .closeIdle(SHARD_IDLE_MS)
      .catch((error: unknown) => log.error({ event: 'close_failed', err: error }));
  }

  /** Ends all waits for jobs. */
  stopWaiting(): void {
    for (const { services } of this.#all) services.ingest.stopWaiting();
  }

  async endWork(): Promise<void> {
    await Promise.all(this.#all.map((books) => books.endWork()));
  }

  /** Closes the states. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((books) => books.close()));
    await this.placement.close();
  }

  health(): GateHealth {
    const all = this.#all.map(({ services }) => services.gate.health());
    return {
      facilitator: this.placement.front.services.gate.health().facilitator,
      pending: sum(all.map(({ pending }) => pending)),
      running: sum(all.map(({ running }) => running)),
    };
  }

  /** See `Placement.lagMs`. */
  lagMs(): number {
    return this.placement.lagMs();
  }

  /** Ingest jobs that have not ended. */
  jobs(): { readonly queued: number; readonly running: number; readonly held: number } {
    const all = this.#all.map(({ services }) => services.ingest.depths());
    return {
      queued: sum(all.map(({ queued }) => queued)),
      running: sum(all.map(({ running }) => running)),
      held: sum(all.map(({ held }) => held)),
    };
  }

  /** Replaced models that living indexes may still use, each with the RFC 3339 time when the last of these ends. */
  previousModels(): PreviousModel[] {
    const latest = new Map<string, PreviousModel>();
    for (const model of this.#all.flatMap((books) => books.previousModels())) {
      const key = `${model.space} ${model.weights}`;
      const known = latest.get(key);
      if (!known || known.until < model.until) latest.set(key, model);
    }
    return [...latest.values()];
  }

  /** Workspaces in order of their ids, at most `limit` of each store. */
  list({ after, limit }: { after?: string; limit: number }): WorkspacePage {
    const pages = this.#all.map(({ services }) => services.workspaces.views.list({ after, limit }));
    // Beyond the earliest end of a page, that store may have more workspaces.
    const known = pages.flatMap(({ next }) => next ?? []).sort()[0];
    const workspaces = pages
      .flatMap((page) => page.workspaces)
      .filter(({ id }) => known === undefined || id <= known)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return { workspaces, next: known ?? null };
  }

  /** @throws not_found where another server has it */
  show(id: WorkspaceId) {
    return this.placement.of(id).services.workspaces.views.showAny(id);
  }

  /** @throws not_found */
  disposeAsOperator(id: WorkspaceId) {
    return this.placement.of(id).services.workspaces.disposeAsOperator(id);
  }
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}
