import { errorCode, rootCause } from '@farthing/protocol/error';
import { type Objects, objectsUnavailable } from './objects.ts';

/** Pause between two attempts at an unresponsive store: all other calls are refused at once until then. */
const RETRY_MS = 3000;

/** One call of the store: `refused` without asking it while it is away. */
export interface ObjectsCall {
  readonly call: 'put' | 'get' | 'list' | 'remove';
  readonly outcome: 'done' | 'failed' | 'refused';
  readonly milliseconds: number;
}

export interface GuardedObjectsOptions {
  readonly log: (event: object) => void;
  readonly onCalled?: (call: ObjectsCall) => void;
  readonly retryMs?: number;
}

/** The same objects, which a store that is away costs one wait, and not one for each request. */
export class GuardedObjects implements Objects {
  readonly #inner: Objects;
  readonly #log: (event: object) => void;
  readonly #onCalled: (call: ObjectsCall) => void;
  readonly #retryMs: number;
  /** Why it is away, and when it may be asked again; undefined while it answers. */
  #away: { readonly cause: unknown; retryAt: number } | undefined;

  constructor(
    inner: Objects,
    { log, onCalled = () => undefined, retryMs = RETRY_MS }: GuardedObjectsOptions,
  ) {
    this.#inner = inner;
    this.#log = log;
    this.#onCalled = onCalled;
    this.#retryMs = retryMs;
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#ask('put', () => this.#inner.put(name, bytes));
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return this.#ask('get', () => this.#inner.get(name));
  }

  list(prefix: string): Promise<string[]> {
    return this.#ask('list', () => this.#inner.list(prefix));
  }

  remove(name: string): Promise<void> {
    return this.#ask('remove', () => this.#inner.remove(name));
  }

  check(): Promise<void> {
    return this.#inner.check();
  }

  async #ask<T>(call: ObjectsCall['call'], ask: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const ended = (outcome: ObjectsCall['outcome']) =>
      this.#onCalled({ call, outcome, milliseconds: performance.now() - began });
    const away = this.#away;
    if (away) {
      if (began < away.retryAt) {
        ended('refused');
        throw objectsUnavailable(away.cause);
      }
      away.retryAt = began + this.#retryMs;
    }
    try {
      const answer = await ask();
      ended('done');
      if (this.#away) this.#log({ event: 'objects_there_again' });
      this.#away = undefined;
      return answer;
    } catch (error) {
      ended('failed');
      if (errorCode(error) !== 'objects_unavailable') throw error;
      if (!this.#away) this.#log({ event: 'objects_unavailable', error: rootCause(error) });
      this.#away = { cause: (error as Error).cause, retryAt: performance.now() + this.#retryMs };
      throw error;
    }
  }
}
