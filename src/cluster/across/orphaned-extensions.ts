import type { Address } from '@farthing/protocol/address';
import { type LeadsHere, payerTenantId, type StepId } from '@farthing/protocol/id';
import type { Workspaces } from '@farthing/server/workspace/workspaces';

export interface OrphanedExtensionsDeps {
  readonly workspaces: Pick<Workspaces, 'pendingExtensions' | 'undoExtension'>;
  readonly leadsHere: LeadsHere;
  /** Asks a payer's store whether a payment there may still commit the extension. @throws while that is unknown */
  readonly knows: (payer: Address, step: StepId) => Promise<boolean>;
  readonly log: (event: object) => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/**
 * Three times `BUY_MS_MAX`: a payment knows an extension at most that long after it was reserved, or never will. By any clock that runs
 * at a third of the other's speed or faster.
 */
const ASKED_AFTER_MS = 30_000;

/**
 * Extensions paid for in another store: a crash there, or a lost answer, can leave some without a payment. That store is asked, repeatedly
 * while no server owns it, and only a clear no undoes an extension. Extensions paid for in the same store are judged at its start.
 */
export class OrphanedExtensions {
  readonly #deps: OrphanedExtensionsDeps;
  /** When each is to be asked for. */
  readonly #due = new Map<StepId, number>();
  #asking: Promise<void> = Promise.resolve();
  #isAsking = false;
  #closed = false;

  constructor(deps: OrphanedExtensionsDeps) {
    this.#deps = deps;
  }

  /** Asks for those that have been pending for long. Called about once a second; what is asked already is not asked again. */
  sweep(): Promise<void> {
    if (this.#isAsking || this.#closed) return this.#asking;
    const { now = () => performance.now() } = this.#deps;
    const pending = this.#pending();
    for (const step of this.#due.keys()) if (!pending.has(step)) this.#due.delete(step);
    const due: { step: StepId; payer: Address }[] = [];
    for (const [step, payer] of pending) {
      const at = this.#due.get(step);
      if (at === undefined || at <= now()) this.#due.set(step, now() + ASKED_AFTER_MS);
      if (at !== undefined && at <= now()) due.push({ step, payer });
    }
    if (due.length === 0) return this.#asking;
    this.#isAsking = true;
    this.#asking = this.#ask(due).finally(() => {
      this.#isAsking = false;
    });
    return this.#asking;
  }

  /** Resolves when nothing is asked any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#asking;
  }

  async #ask(due: readonly { step: StepId; payer: Address }[]): Promise<void> {
    const { workspaces, knows, log } = this.#deps;
    for (const { step, payer } of due) {
      if (this.#closed) return;
      try {
        if ((await knows(payer, step)) || this.#closed) continue;
        // The payment may have committed it by now.
        if (!this.#pending().has(step)) continue;
        await workspaces.undoExtension(step);
        log({ level: 'warn', event: 'effect_orphan_undone', kind: 'workspace_extend' });
      } catch (error) {
        log({ level: 'warn', event: 'effect_not_asked_for', kind: 'workspace_extend', error: String(error) });
      }
    }
  }

  #pending(): Map<StepId, Address> {
    const { workspaces, leadsHere } = this.#deps;
    return new Map(
      workspaces
        .pendingExtensions()
        .filter(({ payer }) => !leadsHere(payerTenantId(payer)))
        .map(({ step, payer }) => [step, payer]),
    );
  }
}
