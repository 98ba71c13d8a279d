import type { Objects } from '../stores/objects/objects.ts';

/** Read-only access to objects, for work that is cancelled when its target is needed otherwise. */
export class ReadingObjects implements Objects {
  readonly #inner: Pick<Objects, 'get'>;
  #stopped = Promise.withResolvers<never>();

  constructor(inner: Pick<Objects, 'get'>) {
    this.#inner = inner;
    this.begin();
  }

  /** To be called before each work. */
  begin(): void {
    this.#stopped = Promise.withResolvers();
    this.#stopped.promise.catch(() => undefined);
  }

  /** All reads fail at once until the next `begin`. */
  stop(reason: Error): void {
    this.#stopped.reject(reason);
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return Promise.race([this.#stopped.promise, this.#inner.get(name)]);
  }

  put(): Promise<void> {
    return refused();
  }

  list(): Promise<string[]> {
    return refused();
  }

  remove(): Promise<void> {
    return refused();
  }

  check(): Promise<void> {
    return refused();
  }
}

async function refused(): Promise<never> {
  throw new Error('a server that follows the books of another must not change them');
}
