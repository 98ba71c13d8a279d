import type { SpaceSpec } from '../space.ts';

interface Beginning {
  spaces?: readonly SpaceSpec[];
  done: Promise<void>;
}

/** The spaces chosen for each Tenant's empty index. Nothing is stored: an index with content keeps its models. */
export class BegunIndexes {
  readonly #all = new Map<string, Beginning>();

  /** Undefined until it is decided. */
  spacesOf(tenant: string): readonly SpaceSpec[] | undefined {
    return this.#all.get(tenant)?.spaces;
  }

  /**
   * The first call decides, until the Tenant is forgotten; all wait for it. After a decision that fails the next call decides.
   * @param decided awaited once they are decided, before any caller continues
   */
  begin(
    tenant: string,
    choose: () => Promise<readonly SpaceSpec[]>,
    decided: (spaces: readonly SpaceSpec[]) => Promise<void>,
  ): Promise<void> {
    const known = this.#all.get(tenant);
    if (known) return known.done;
    const beginning: Beginning = { done: Promise.resolve() };
    beginning.done = (async () => {
      try {
        beginning.spaces = await choose();
        await decided(beginning.spaces);
      } catch (error) {
        this.#all.delete(tenant);
        throw error;
      }
    })();
    this.#all.set(tenant, beginning);
    return beginning.done;
  }

  forget(isGone: (tenant: string) => boolean): void {
    for (const tenant of this.#all.keys()) if (isGone(tenant)) this.#all.delete(tenant);
  }
}
