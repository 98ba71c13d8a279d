import { useEffect, useState } from 'preact/hooks';

/** A value that components subscribe to. */
export class Store<T extends object> {
  #value: T;
  readonly #followers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(change: Partial<T>): void {
    this.#value = { ...this.#value, ...change };
    for (const follower of this.#followers) follower();
  }

  follow(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }
}

/** The store's value; the component is rendered again when it changes. */
export function useStore<T extends object>(store: Store<T>): T {
  const [value, setValue] = useState(store.value);
  useEffect(() => {
    const update = () => setValue(store.value);
    // It may have changed between render and effect.
    update();
    return store.follow(update);
  }, [store]);
  return value;
}
