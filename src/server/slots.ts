import type { WorkspaceId } from '../domain/id.ts';
import type { ReencodingProgress } from '../ingest/reencoding/reencoding.ts';
import { LiveBackup } from '../operator/backup/live-backup.ts';
import type { GateHealth } from '../payment/gate/gate.ts';
import { Ledger } from '../payment/records/ledger.ts';
import type { SlotStore } from '../state/recorded-store.ts';
import { slotOf } from '../state/slots.ts';
import type { WorkspacePage } from '../workspace/views/views.ts';
import { AcrossSlots } from './slot/across-slots.ts';
import { Crossing } from './slot/crossing.ts';
import type { Runtime } from './wire-process.ts';
import { type Slot, type SlotOptions, wireSlot } from './wire-slot.ts';

/** Sweeps between two writes of a slot's clock, so that many slots do not write all the time. */
const SWEEPS_PER_BEAT_MAX = 5;
/** An index without a request for this long is closed; opening it again takes milliseconds. */
const SHARD_IDLE_MS = 600_000;

/** All slots of a process, and what they come to as one. */
export class Slots {
  readonly all: readonly Slot[];
  readonly ledger: Ledger;
  readonly backup: LiveBackup;
  readonly #runtime: Runtime;
  #sweeps = 0;

  /** @param stores of the slots, in order */
  constructor(
    runtime: Runtime,
    { stores, monotonic }: { readonly stores: readonly SlotStore[] } & Pick<SlotOptions, 'monotonic'>,
  ) {
    const { slotFolders, data, tenants, files, encoder, clock, event } = runtime;
    const crossing = new Crossing();
    const across = new AcrossSlots({ placeOf: (id) => this.of(id), crossing });
    this.#runtime = runtime;
    this.all = slotFolders.map((folder, number) =>
      wireSlot({
        runtime,
        folder,
        store: stores[number]!,
        monotonic,
        leadsHere: (id) => slotOf(id, slotFolders.length) === number,
        across,
      }),
    );
    this.ledger = new Ledger(this.all.map(({ services }) => services.gate.journal));
    this.backup = new LiveBackup({
      data,
      slots: this.all,
      whileApart: (work) => crossing.apart(work),
      tenants,
      files,
      spaces: encoder.spaces,
      clock,
      log: event,
    });
  }

  /** The slot that an id leads to: a Tenant's or a job's. */
  of(id: string): Slot {
    return this.all[slotOf(id, this.all.length)]!;
  }

  /** Finishes what a crash left. Disposals come before anything uses their Tenants, and payments before the work that they pay for. */
  async recover(): Promise<void> {
    const { payments, tenants } = this.#runtime;
    await payments.connect();
    await tenants.resumeDisposals();
    await Promise.all(this.all.map((slot) => slot.recoverPayments()));
    await Promise.all(this.all.map((slot) => slot.resume()));
  }

  /** Called once a second. */
  async sweep(): Promise<void> {
    const { tenants, signer, log } = this.#runtime;
    this.#sweeps += 1;
    // Another server may have destroyed a key.
    void signer.refresh();
    const period = Math.min(SWEEPS_PER_BEAT_MAX, this.all.length);
    const beats = (number: number) => (this.#sweeps + number) % period === 0;
    await Promise.all(this.all.map((slot, number) => slot.sweep(beats(number))));
    for (const { store } of this.all) await store.trim?.();
    await tenants
      .closeIdle(SHARD_IDLE_MS)
      .catch((error: unknown) => log.error({ event: 'close_failed', err: error }));
  }

  /** Ends all waits for jobs. */
  stopWaiting(): void {
    for (const { services } of this.all) services.ingest.stopWaiting();
  }

  async endWork(): Promise<void> {
    await Promise.all(this.all.map((slot) => slot.endWork()));
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((slot) => slot.close()));
  }

  health(): GateHealth {
    const all = this.all.map(({ services }) => services.gate.health());
    return {
      facilitator: all[0]!.facilitator,
      pending: sum(all.map(({ pending }) => pending)),
      running: sum(all.map(({ running }) => running)),
    };
  }

  /** For how many milliseconds a log has lacked what its slot wrote; 0 when all have everything. */
  lagMs(): number {
    return Math.max(...this.all.map(({ store }) => store.lagMs?.() ?? 0));
  }

  /** Ingest jobs that have not ended. */
  jobs(): { readonly queued: number; readonly running: number; readonly held: number } {
    const all = this.all.map(({ services }) => services.ingest.depths());
    return {
      queued: sum(all.map(({ queued }) => queued)),
      running: sum(all.map(({ running }) => running)),
      held: sum(all.map(({ held }) => held)),
    };
  }

  /** Undefined when no change of model is under way. */
  reencoding(): ReencodingProgress | undefined {
    const all = this.all.flatMap(({ reencoding }) => reencoding.progress() ?? []);
    if (all.length === 0) return undefined;
    return {
      tenants_left: sum(all.map(({ tenants_left }) => tenants_left)),
      segments_done: sum(all.map(({ segments_done }) => segments_done)),
      segments_given_up: sum(all.map(({ segments_given_up }) => segments_given_up)),
      tenants_failed: sum(all.map(({ tenants_failed }) => tenants_failed)),
    };
  }

  /** Workspaces of all slots in order of their ids, at most `limit` of each slot. */
  list({ after, limit }: { after?: string; limit: number }): WorkspacePage {
    const pages = this.all.map(({ services }) => services.workspaces.list({ after, limit }));
    // Beyond the first of the pages' ends, another workspace of its slot may come.
    const known = pages.flatMap(({ next }) => next ?? []).sort()[0];
    const workspaces = pages
      .flatMap((page) => page.workspaces)
      .filter(({ id }) => known === undefined || id <= known)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return { workspaces, next: known ?? null };
  }

  show(id: WorkspaceId) {
    return this.of(id).services.workspaces.show(id);
  }

  /** @throws not_found */
  disposeAsOperator(id: WorkspaceId) {
    return this.of(id).services.workspaces.disposeAsOperator(id);
  }
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}
