import type { PictureSpec } from '../domain/document.ts';
import type { EncoderInput, InputKind } from '../domain/family.ts';
import type { SpaceSpec } from '../domain/space.ts';
import type { Encoder, IngestOptions, Missing, QueryOptions, ServedSpace } from './encoder.ts';

/** What a search needs of the encoders. */
export interface QueryEncoder
  extends Pick<Encoder, 'spaces' | 'missing' | 'fusion' | 'admitQuery' | 'vocabulary'> {
  /** Spaces of the index whose models are not installed any more: what they hold is not searched. */
  readonly lost?: readonly Missing[];
  /** @param inForm the same picture in the form that another model wants */
  encodeQuery<K extends InputKind>(
    kind: K,
    input: EncoderInput<K>,
    options: QueryOptions,
    inForm?: (spec: PictureSpec) => Promise<Uint8Array>,
  ): Promise<Record<string, Float32Array>>;
}

export interface IndexModelsOptions {
  readonly current: Encoder;
  /** Opens the model that fills a space; undefined when it is not installed. */
  readonly open: (space: SpaceSpec) => Promise<Encoder | undefined>;
  readonly log: (event: object) => void;
}

/** Previous models that are open at once; the one that was used least recently closes for a further one. */
const OPEN_MAX = 4;

interface Previous {
  readonly opening: Promise<Encoder | undefined>;
  /** Tenants that have asked for it. */
  readonly tenants: Set<string>;
}

/**
 * An index keeps its models until it ends. Those in use serve new indexes; previous ones are opened when an index that they filled
 * is asked for, and closed with the last of them.
 */
export class IndexModels {
  readonly current: Encoder;
  readonly #options: IndexModelsOptions;
  /** In the order of use. */
  readonly #previous = new Map<string, Previous>();

  constructor(options: IndexModelsOptions) {
    this.#options = options;
    this.current = options.current;
  }

  /** Number of previous models that are open, or being opened. */
  get previousCount(): number {
    return this.#previous.size;
  }

  /** The encoder for searches of a Tenant's index with these spaces. */
  of(tenant: string, spaces: readonly SpaceSpec[]): QueryEncoder | Promise<QueryEncoder> {
    const { current } = this;
    if (spaces.length === current.spaces.length && spaces.every((space) => isIn(current, space)))
      return current;
    return this.#mixed(tenant, spaces);
  }

  /** Vectors for the spaces of an index, each by the space's own model. One that wants pictures in another form gives none. */
  async encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: IngestOptions,
    spaces: readonly SpaceSpec[],
  ): Promise<Record<string, Float32Array[]>> {
    const { current } = this;
    const vectors: Record<string, Float32Array[]> = {};
    const keep = (made: Record<string, Float32Array[]>, those: readonly SpaceSpec[]) => {
      for (const { name } of those) if (made[name]) vectors[name] = made[name];
    };
    const own = spaces.filter((space) => isIn(current, space));
    // An index without a space for this kind of input has its text and fingerprints alone.
    if (own.length > 0) keep(await current.encodeIngest(kind, inputs, options), own);
    for (const space of spaces.filter((each) => !own.includes(each))) {
      const encoder = await this.#open(options.tenant, space);
      if (!encoder || (kind === 'picture' && !isSameForm(encoder.pictureSpec, current.pictureSpec))) continue;
      keep(await encoder.encodeIngest(kind, inputs, options), [space]);
    }
    return vectors;
  }

  /** A Tenant has ended: models that nothing else has asked for are closed. */
  ended(tenant: string): void {
    for (const [key, { tenants }] of this.#previous)
      if (tenants.delete(tenant) && tenants.size === 0) void this.#close(key);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#previous.keys()].map((key) => this.#close(key)));
  }

  async #open(tenant: string, space: SpaceSpec): Promise<Encoder | undefined> {
    const key = `${space.name} ${space.modelSha256}`;
    const { opening, tenants } = this.#previous.get(key) ?? {
      opening: this.#opened(space),
      tenants: new Set(),
    };
    tenants.add(tenant);
    // Last in the map: last to be closed.
    this.#previous.delete(key);
    this.#previous.set(key, { opening, tenants });
    const [idlest] = this.#previous.keys();
    if (this.#previous.size > OPEN_MAX && idlest !== undefined) void this.#close(idlest);
    return opening;
  }

  async #opened(space: SpaceSpec): Promise<Encoder | undefined> {
    const { open, log } = this.#options;
    const model = { space: space.name, model_sha256: space.modelSha256 };
    const encoder = await open(space).catch((error: unknown) => {
      log({ event: 'previous_model_failed', ...model, error: String(error) });
      return undefined;
    });
    log({ event: encoder ? 'previous_model_loaded' : 'previous_model_missing', ...model });
    return encoder;
  }

  async #close(key: string): Promise<void> {
    const closed = this.#previous.get(key);
    this.#previous.delete(key);
    await (await closed?.opening)?.close();
  }

  async #mixed(tenant: string, spaces: readonly SpaceSpec[]): Promise<QueryEncoder> {
    const { current } = this;
    const previous = await Promise.all(
      spaces
        .filter((space) => !isIn(current, space))
        .map(async (space) => ({ space, encoder: await this.#open(tenant, space) })),
    );
    const kept = current.spaces.filter(({ name }) =>
      spaces.some((space) => space.name === name && isIn(current, space)),
    );
    const served = previous.flatMap(({ space, encoder }) => servedBy(encoder, space));
    const lost = previous.flatMap(({ space, encoder }) => (encoder ? [] : [lostSpace(space)]));
    return {
      fusion: current.fusion,
      spaces: [...kept, ...served],
      lost,
      missing: [...lost, ...current.missing],
      vocabulary: current.vocabulary,
      admitQuery: () => {
        current.admitQuery();
        for (const { encoder } of previous) encoder?.admitQuery();
      },
      // A search goes on where one encoder makes all of its vectors.
      encodeQuery: async (kind, input, { search: _, ...options }, inForm) => {
        const made = kept.some(({ asksWith }) => asksWith[kind])
          ? current.encodeQuery(kind, input, options)
          : {};
        const others = previous.map(async ({ space: { name }, encoder }) => {
          if (!encoder) return {};
          const form = kind === 'picture' ? encoder.pictureSpec : undefined;
          const isOther = form && !isSameForm(form, current.pictureSpec);
          const adapted = isOther && inForm ? ((await inForm(form)) as typeof input) : input;
          const vector = (await encoder.encodeQuery(kind, adapted, options))[name];
          return vector ? { [name]: vector } : {};
        });
        const [own, ...rest] = await Promise.all([made, ...others]);
        const names = new Set<string>(kept.map(({ name }) => name));
        const ours = Object.entries(own).filter(([name]) => names.has(name));
        return Object.assign(Object.fromEntries(ours), ...rest);
      },
    };
  }
}

function isIn({ spaces }: Pick<Encoder, 'spaces'>, { name, modelSha256 }: SpaceSpec): boolean {
  return spaces.some((space) => space.name === name && space.modelSha256 === modelSha256);
}

function servedBy(encoder: Encoder | undefined, { name }: SpaceSpec): readonly ServedSpace[] {
  return encoder?.spaces.filter((space) => space.name === name) ?? [];
}

function lostSpace({ name }: SpaceSpec): Missing {
  return {
    space: name as Missing['space'],
    reason: 'the model that filled this index is not installed any more',
  };
}

function isSameForm(a: PictureSpec | undefined, b: PictureSpec | undefined): boolean {
  return a?.width === b?.width && a?.height === b?.height && a?.fit === b?.fit && a?.resample === b?.resample;
}
