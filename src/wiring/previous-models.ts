import type { ModelVersions } from '../encode/model-versions.ts';

type Space = Parameters<ModelVersions['previous']>[0];

/** The models that filled indexes before, while books need them; indexes are encoded again one at a time in all books. */
export class PreviousModels {
  readonly #encoders: Pick<ModelVersions, 'previous' | 'closePrevious'>;
  readonly #needing = new Set<object>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(encoders: Pick<ModelVersions, 'previous' | 'closePrevious'>) {
    this.#encoders = encoders;
  }

  /** Loads the model of a space, which `books` need until they are done. */
  load(books: object, space: Space): Promise<unknown> {
    this.#needing.add(books);
    return this.#encoders.previous(space);
  }

  /** Closes them when no other books need one. */
  async done(books: object): Promise<void> {
    this.#needing.delete(books);
    if (this.#needing.size === 0) await this.#encoders.closePrevious();
  }

  /** As `done`, for books that another server has now. */
  async left(books: object): Promise<void> {
    if (this.#needing.has(books)) await this.done(books);
  }

  /** Runs the work of one set of books at a time, in the order of the calls. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
