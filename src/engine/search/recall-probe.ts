import type { ListName } from '@farthing/protocol/family';
import type { ScanMethod } from '@farthing/protocol/search';
import type { ListQuery, Probed } from '../shard/snapshot.ts';
import type { Tenants } from '../shard/tenants.ts';

/** A list that was not proved, and its query. */
export interface UnprovedList {
  readonly list: ListName;
  readonly method: ScanMethod;
  readonly query: ListQuery;
  readonly depth: number;
}

/** Outcome of one probe: how much of a list's proved best its quick way found. */
export interface ProbedEvent extends Probed {
  readonly list: ListName;
  readonly method: ScanMethod;
}

export interface RecallProbeDeps {
  readonly tenants: Tenants;
  /** Every Nth search with an unproved list is probed; 0: none. */
  readonly every: number;
  readonly observe: (event: ProbedEvent) => void;
}

/**
 * Measures the recall of unproved lists in production. Every Nth search with one is repeated in the background, on one
 * snapshot, both quickly and with proof. At most one probe runs at a time; failed probes are not reported.
 */
export class RecallProbe {
  readonly #deps: RecallProbeDeps;
  #seen = 0;
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(deps: RecallProbeDeps) {
    this.#deps = deps;
  }

  /** Counts a search and starts a probe if it is due. Does not wait for it. */
  consider(tenant: string, lists: readonly UnprovedList[]): void {
    if (this.#deps.every === 0 || lists.length === 0) return;
    this.#seen += 1;
    if (this.#seen % this.#deps.every !== 0 || this.#running || this.#closing.signal.aborted) return;
    this.#running = this.#run(tenant, lists)
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when no probe runs. */
  async whenIdle(): Promise<void> {
    await this.#running;
  }

  /** Aborts the running probe. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(tenant: string, lists: readonly UnprovedList[]): Promise<void> {
    await this.#deps.tenants.use(tenant, {}, async (shard) => {
      const snapshot = shard.snapshot();
      try {
        for (const { list, method, query, depth } of lists) {
          const probed = await snapshot.probe(query, depth, this.#closing.signal);
          if (probed.expected > 0) this.#deps.observe({ list, method, ...probed });
        }
      } finally {
        snapshot.close();
      }
    });
  }
}
