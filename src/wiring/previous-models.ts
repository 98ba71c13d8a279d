import type { ModelVersions } from '../encode/model-versions.ts';

type Space = Parameters<ModelVersions['previous']>[0];

/** The models that filled indexes before, while a slot needs them; its indexes are encoded again one at a time in all slots. */
export class PreviousModels {
  readonly #encoders: Pick<ModelVersions, 'previous' | 'closePrevious'>;
  readonly #needing = new Set<object>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(encoders: Pick<ModelVersions, 'previous' | 'closePrevious'>) {
    this.#encoders = encoders;
  }

  /** Loads the model of a space, which `slot` needs until it is done. */
  load(slot: object, space: Space): Promise<unknown> {
    this.#needing.add(slot);
    return this.#encoders.previous(space);
  }

  /** Closes them when no other slot needs one. */
  async done(slot: object): Promise<void> {
    this.#needing.delete(slot);
    if (this.#needing.size === 0) await this.#encoders.closePrevious();
  }

  /** As `done`, for a slot that is with another server now. */
  async left(slot: object): Promise<void> {
    if (this.#needing.has(slot)) await this.done(slot);
  }

  /** Runs the work of one slot at a time, in the order of the calls. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
