import type { Tenants } from '@farthing/engine/shard/tenants';
import { native } from '@farthing/native';
import { payerTenantId, type WorkspaceId } from '@farthing/protocol/id';
import { HOUSE } from '../workspace/house/house-keys.ts';
import type { TenantLimits } from '../workspace/tenant-limits.ts';
import type { WorkspaceRecord } from '../workspace/workspace.ts';
import type { OtherReaders, Workspaces } from '../workspace/workspaces.ts';
import type { Grant } from './messages.ts';
import { type SharedCounts, SLOTS } from './shared-counts.ts';

export interface GrantsDeps {
  readonly counts: SharedCounts;
  readonly tenantLimits: TenantLimits;
  readonly requestsPerSecond: number;
  readonly burst: number;
  readonly searchesAtOnce: number;
  /** Whether an index has spaces of the models in use alone. */
  readonly isServed: (spaces: readonly { readonly name: string; readonly modelSha256: string }[]) => boolean;
  /** Whether another model helps with queries for pictures. */
  readonly translates: boolean;
}

/** Slots that are looked at for one that is idle. */
const IDLE_LOOKS = 8;

/**
 * Which workspaces the fronts may read. A front that is handed a search asks for the workspace of it; the grant holds until the record, the
 * token or the index changes: then the owner takes it back, and waits for those inside where the index closes.
 */
export class Grants implements OtherReaders {
  readonly #deps: GrantsDeps;
  readonly #slots = new Map<string, number>();
  readonly #free = Array.from({ length: SLOTS }, (_, number) => SLOTS - 1 - number);
  readonly #waiting = new Map<number, (() => void)[]>();
  #flush: () => Promise<void> = async () => undefined;

  constructor(deps: GrantsDeps) {
    this.#deps = deps;
  }

  /** @param flush resolves when all fronts have reported what they have counted */
  connect(flush: () => Promise<void>): void {
    this.#flush = flush;
  }

  /** The grant of a workspace whose index is open; undefined for one that no front can read now. */
  grant(id: WorkspaceId, workspaces: Pick<Workspaces, 'opened'>, tenants: Tenants): Grant | undefined {
    const { counts, isServed, translates } = this.#deps;
    const opened = workspaces.opened(id);
    const index = opened && tenants.opened(id);
    if (!opened || !index || !isServed(index.shard.spaces)) return undefined;
    const slot = this.#slotOf(id);
    if (slot === undefined) return undefined;
    native.shareIndex(id, index.native);
    const { record, tokenHash } = opened;
    const generation = counts.generation(slot);
    return { slot, generation, record, tokenHash, owner: ownerOf(record), translates };
  }

  changed(id: WorkspaceId): void {
    const slot = this.#slots.get(id);
    if (slot !== undefined) this.#deps.counts.raiseGeneration(slot);
  }

  async left(id: WorkspaceId): Promise<void> {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#deps.counts.raiseGeneration(slot);
    await this.#outside(slot);
    await this.#flush();
    if (this.#slots.get(id) === slot) this.#giveBack(id, slot);
  }

  counted(): Promise<void> {
    return this.#flush();
  }

  /** An index is about to be closed: resolves when no front reads it. */
  async closing(tenant: string): Promise<void> {
    const slot = this.#slots.get(tenant);
    if (slot === undefined) return;
    this.#deps.counts.raiseGeneration(slot);
    await this.#outside(slot);
    native.unshareIndex(tenant);
  }

  /** A front has left a slot, or has ended. */
  heard(slot: number): void {
    for (const look of this.#waiting.get(slot)?.splice(0) ?? []) look();
  }

  async #outside(slot: number): Promise<void> {
    const { counts } = this.#deps;
    counts.setWaiting(slot, true);
    while (counts.inside(slot).length > 0) {
      const waiting = this.#waiting.get(slot) ?? [];
      this.#waiting.set(slot, waiting);
      await new Promise<void>((look) => void waiting.push(look));
    }
    if ((this.#waiting.get(slot)?.length ?? 0) > 0) return;
    this.#waiting.delete(slot);
    counts.setWaiting(slot, false);
  }

  #slotOf(id: string): number | undefined {
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const slot = this.#free.pop() ?? this.#idle();
    if (slot === undefined) return undefined;
    const { counts, tenantLimits, requestsPerSecond, burst, searchesAtOnce } = this.#deps;
    counts.raiseGeneration(slot);
    const before = tenantLimits.share(id as WorkspaceId, {
      request: () => counts.request(slot, 1e6 / requestsPerSecond, burst) / 1000,
      beginSearch: () => counts.beginSearch(slot, searchesAtOnce),
      endSearch: () => counts.endSearch(slot),
    });
    counts.begin(slot, { ahead: before.aheadMs * 1000, searches: before.searches });
    this.#slots.set(id, slot);
    return slot;
  }

  /** Takes the slot of a workspace that was granted long ago, and that nobody reads now. */
  #idle(): number | undefined {
    const { counts } = this.#deps;
    let looks = 0;
    for (const [id, slot] of this.#slots) {
      if (looks++ === IDLE_LOOKS) return undefined;
      // Last in the map: looked at again when all others have been.
      this.#slots.delete(id);
      this.#slots.set(id, slot);
      counts.raiseGeneration(slot);
      if (counts.inside(slot).length > 0) continue;
      this.#giveBack(id, slot);
      return this.#free.pop();
    }
    return undefined;
  }

  #giveBack(id: string, slot: number): void {
    const { counts, tenantLimits } = this.#deps;
    native.unshareIndex(id);
    tenantLimits.unshare(id as WorkspaceId, {
      aheadMs: counts.ahead(slot) / 1000,
      searches: counts.searches(slot),
    });
    this.#slots.delete(id);
    this.#free.push(slot);
  }
}

/** As `Owners.of` says of a workspace. */
function ownerOf({ id, payer, house }: WorkspaceRecord): string {
  if (house) return HOUSE;
  return payer ? payerTenantId(payer) : id;
}
