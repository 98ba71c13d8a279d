import { type PreviousSpace, previousKey } from '../domain/space.ts';
import { crossing, native } from '../native/index.ts';

type NativeShard = InstanceType<typeof native.NativeShard>;
type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;

/** An index as it is before a query is encoded for it. */
export interface ShardState {
  readonly segments: number;
  /** Spaces of previous models that still serve. */
  readonly previous: readonly PreviousSpace[];
}

/** The spaces of an open index by their keys: a model in use goes by its role, a previous model by its `previousKey`. */
export class OpenSpaces {
  readonly #names = new Map<string, string>();
  readonly #previous: (PreviousSpace & { readonly name: string })[] = [];

  /** @param inUse number of spaces that the index was opened with */
  constructor(shard: NativeShard, inUse: number) {
    for (const [index, { name, role, modelSha256 }] of crossing(() => native.openSpaces(shard)).entries()) {
      const key = index < inUse ? role : previousKey({ role, modelSha256 });
      this.#names.set(key, name);
      if (index >= inUse) this.#previous.push({ role, key, modelSha256, name });
    }
  }

  /** The native name; undefined for a space that this index does not have. */
  name(key: string): string | undefined {
    return this.#names.get(key);
  }

  /** Spaces of previous models that still serve in a snapshot. */
  serving(snapshot: NativeSnapshot): PreviousSpace[] {
    return this.#ofPrevious(({ role }) => crossing(() => native.servingSpace(snapshot, role)));
  }

  /** What a search must know of the index before its query is encoded. */
  stateOf(shard: NativeShard): ShardState {
    const roles = this.#previous.map(({ role }) => role);
    const { segments, serving } = crossing(() => native.shardState(shard, roles));
    return { segments, previous: this.#ofPrevious((_, at) => serving[at]) };
  }

  #ofPrevious(serving: (space: PreviousSpace, at: number) => string | null | undefined): PreviousSpace[] {
    return this.#previous.flatMap((space, at) => {
      const { role, key, modelSha256, name } = space;
      return serving(space, at) === name ? [{ role, key, modelSha256 }] : [];
    });
  }

  /** Native names of all spaces of previous models. */
  get previousNames(): string[] {
    return this.#previous.map(({ name }) => name);
  }
}
