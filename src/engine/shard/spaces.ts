import { crossing, native } from '@farthing/native';
import { errorCode } from '@farthing/protocol/error';
import { segmentKindOf } from '@farthing/protocol/family';
import type { SpaceSpec } from '../space.ts';

type NativeShard = InstanceType<typeof native.NativeShard>;

/** An index as it is before a query is encoded for it. */
export interface ShardState {
  readonly segments: number;
  /** Some of them are pictures. */
  readonly pictures: boolean;
  readonly spaces: readonly SpaceSpec[];
}

/**
 * The spaces of an open index by their roles. An index keeps its models: what holds vectors stays with the model that made them,
 * and a kind of Segments that has vectors gets no further space. Other roles belong to the models in use.
 */
export class OpenSpaces {
  readonly specs: readonly SpaceSpec[];
  readonly #names: ReadonlyMap<string, string>;

  constructor(shard: NativeShard) {
    const all = crossing(() => native.openSpaces(shard));
    const filled = new Set(all.flatMap(({ role, stored }) => (stored ? kindOf(role) : [])));
    const open = all.filter(({ role, stored }) => stored || !filled.has(kindOf(role)));
    this.specs = open.map(({ role, dimensions, modelSha256 }) => ({ name: role, dimensions, modelSha256 }));
    this.#names = new Map(open.map(({ role, name }) => [role, name]));
  }

  /** The native name; undefined for a space that this index does not have. */
  name(role: string): string | undefined {
    return this.#names.get(role);
  }

  /** State of the index that a search needs before its query is encoded. What it has is looked at once it is asked for. */
  stateOf(shard: NativeShard): ShardState {
    return new LazyState(shard, this.specs);
  }
}

/** Few searches need more than the spaces. */
class LazyState implements ShardState {
  readonly spaces: readonly SpaceSpec[];
  readonly #shard: NativeShard;
  #content: Omit<ShardState, 'spaces'> | undefined;

  constructor(shard: NativeShard, spaces: readonly SpaceSpec[]) {
    this.spaces = spaces;
    this.#shard = shard;
  }

  get segments(): number {
    this.#content ??= contentOf(this.#shard);
    return this.#content.segments;
  }

  get pictures(): boolean {
    this.#content ??= contentOf(this.#shard);
    return this.#content.pictures;
  }
}

/** An index that was closed meanwhile has nothing any more. */
function contentOf(shard: NativeShard): Omit<ShardState, 'spaces'> {
  try {
    return crossing(() => native.indexContent(shard));
  } catch (error) {
    if (errorCode(error) !== 'not_found') throw error;
    return { segments: 0, pictures: false };
  }
}

/** The kind of Segments of a role; the role itself for one that no list scans. */
function kindOf(role: string): string {
  return segmentKindOf(role) ?? role;
}
