import type { ListName } from '../domain/fusion.ts';
import type { ScanMethod } from '../domain/search.ts';
import type { Probed, Question } from '../shard/snapshot.ts';
import type { Tenants } from '../shard/tenants.ts';

/** A list that was not proved, and what it was asked with. */
export interface UnprovedList {
  readonly list: ListName;
  readonly method: ScanMethod;
  readonly question: Question;
  readonly depth: number;
}

/** What one probe found of a list's proved best. */
export interface ProbedEvent extends Probed {
  readonly list: ListName;
  readonly method: ScanMethod;
}

export interface RecallProbeDeps {
  readonly tenants: Tenants;
  /** One in so many searches that prove nothing is probed; 0: none. */
  readonly every: number;
  readonly observe: (event: ProbedEvent) => void;
}

/**
 * Measures in production what searches that prove nothing are held to: one in N of them is made again in the background, once
 * as it was and once proved, on one snapshot. At most one runs at a time; a probe that fails says nothing.
 */
export class RecallProbe {
  readonly #parts: RecallProbeDeps;
  #seen = 0;
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(parts: RecallProbeDeps) {
    this.#parts = parts;
  }

  /** Counts a search; nobody waits for what comes of it. */
  consider(tenant: string, lists: readonly UnprovedList[]): void {
    if (this.#parts.every === 0 || lists.length === 0) return;
    this.#seen += 1;
    if (this.#seen % this.#parts.every !== 0 || this.#running || this.#closing.signal.aborted) return;
    this.#running = this.#run(tenant, lists)
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when no probe runs. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(tenant: string, lists: readonly UnprovedList[]): Promise<void> {
    await this.#parts.tenants.use(tenant, {}, async (shard) => {
      const snapshot = shard.snapshot();
      try {
        for (const { list, method, question, depth } of lists) {
          const probed = await snapshot.probe(question, depth, this.#closing.signal);
          if (probed.expected > 0) this.#parts.observe({ list, method, ...probed });
        }
      } finally {
        snapshot.close();
      }
    });
  }
}
