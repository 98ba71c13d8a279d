import { crossing, native } from '../native/index.ts';

type NativeShard = InstanceType<typeof native.NativeShard>;
type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;

/** A space that serves in an index, and was filled by another model than the one in use. */
export interface FormerSpace {
  /** What it is for, as the space of the model in use is called. */
  readonly role: string;
  /** What it goes by in questions and Segments: its role, `@`, and the beginning of its model's SHA-256. */
  readonly key: string;
  readonly modelSha256: string;
}

/** Whether a key is that of a former model's space, as `FormerSpace` has it. */
export function isFormer(key: string): boolean {
  return key.includes('@');
}

/** The spaces of an open index by what they go by here: those of models in use by their role. */
export class OpenSpaces {
  readonly #names = new Map<string, string>();
  readonly #formers: (FormerSpace & { readonly name: string })[] = [];

  /** @param inUse how many spaces the index was opened with */
  constructor(shard: NativeShard, inUse: number) {
    for (const [index, { name, role, modelSha256 }] of crossing(() => native.openSpaces(shard)).entries()) {
      const key = index < inUse ? role : `${role}@${modelSha256.slice(0, 16)}`;
      this.#names.set(key, name);
      if (index >= inUse) this.#formers.push({ role, key, modelSha256, name });
    }
  }

  /** The native name; undefined for a space that this index does not have. */
  name(key: string): string | undefined {
    return this.#names.get(key);
  }

  /** Former models' spaces that still serve in a snapshot. */
  serving(snapshot: NativeSnapshot): FormerSpace[] {
    return this.#formers.flatMap(({ role, key, modelSha256, name }) =>
      crossing(() => native.servingSpace(snapshot, role)) === name ? [{ role, key, modelSha256 }] : [],
    );
  }

  /** Native names of all former models' spaces. */
  get formerNames(): string[] {
    return this.#formers.map(({ name }) => name);
  }
}
