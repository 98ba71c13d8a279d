import type { PictureSpec } from '../domain/document.ts';
import { errorCode } from '../domain/error.ts';
import type { EncoderInput, InputKind } from '../domain/family.ts';
import type { FilledSpace, PreviousSpace } from '../domain/space.ts';
import type { Encoder, IngestOptions, Missing, QueryOptions } from './encoder.ts';

/** What a search needs of the encoders. */
export interface QueryEncoder
  extends Pick<Encoder, 'spaces' | 'missing' | 'fusion' | 'admitQuery' | 'vocabulary'> {
  /** @param inForm the same picture in the form that another model wants */
  encodeQuery<K extends InputKind>(
    kind: K,
    input: EncoderInput<K>,
    options: QueryOptions,
    inForm?: (spec: PictureSpec) => Promise<Uint8Array>,
  ): Promise<Record<string, Float32Array>>;
}

export interface ModelVersionsOptions {
  readonly current: Encoder;
  /** Opens the model that filled a space; undefined when it is not installed. */
  readonly open: (space: FilledSpace) => Promise<Encoder | undefined>;
  readonly log: (event: object) => void;
}

/**
 * The models in use, and beside them the previous ones, which filled indexes before: opened when the first index needs them,
 * closed when none does any more.
 */
export class ModelVersions {
  readonly current: Encoder;
  readonly #options: ModelVersionsOptions;
  readonly #previous = new Map<string, Promise<Encoder | undefined>>();

  constructor(options: ModelVersionsOptions) {
    this.#options = options;
    this.current = options.current;
  }

  /** The model that filled a space. Undefined when it is not installed (any more). */
  previous(space: FilledSpace): Promise<Encoder | undefined> {
    const name = `${space.role} ${space.modelSha256}`;
    let encoder = this.#previous.get(name);
    if (!encoder) {
      encoder = this.#open(space);
      this.#previous.set(name, encoder);
    }
    return encoder;
  }

  async #open({ role, modelSha256 }: FilledSpace): Promise<Encoder | undefined> {
    const { open, log } = this.#options;
    const model = { role, model_sha256: modelSha256 };
    const encoder = await open({ role, modelSha256 }).catch((error: unknown) => {
      log({ event: 'previous_model_failed', ...model, error: String(error) });
      return undefined;
    });
    log({ event: encoder ? 'previous_model_loaded' : 'previous_model_missing', ...model });
    return encoder;
  }

  /** Number of previous models that are loaded, or being loaded. */
  get previousCount(): number {
    return this.#previous.size;
  }

  /** The encoder for searches of an index with these spaces of previous models. */
  async searching(previous: readonly PreviousSpace[]): Promise<QueryEncoder> {
    const { current } = this;
    if (previous.length === 0) return current;
    const opened = await Promise.all(
      previous.map(async (space) => ({ ...space, encoder: await this.previous(space) })),
    );
    return mixed(current, opened);
  }

  /**
   * Vectors by the models in use and, under the keys of an index's previous spaces, by theirs. A previous model that wants
   * its pictures in another form gives none.
   */
  async encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: IngestOptions,
    previous: readonly PreviousSpace[],
  ): Promise<Record<string, Float32Array[]>> {
    const vectors = { ...(await this.current.encodeIngest(kind, inputs, options)) };
    for (const space of previous) {
      const encoder = await this.previous(space);
      if (!encoder || (kind === 'picture' && !isSameSpec(encoder.pictureSpec, this.current.pictureSpec)))
        continue;
      // A model that was closed is not needed by any index any more.
      const made = await encoder.encodeIngest(kind, inputs, options).catch(unlessClosed);
      const rows = made?.[space.role];
      if (rows) vectors[space.key] = rows;
    }
    return vectors;
  }

  /** Closes the previous models: no index needs them any more, or the server stops. A later use opens them again. */
  async closePrevious(): Promise<void> {
    const previous = [...this.#previous.values()];
    this.#previous.clear();
    for (const encoder of previous) await (await encoder)?.close();
  }
}

const NOT_INSTALLED =
  'the model that filled this index is not installed any more; it is being encoded again by the one in use';

function unlessClosed(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'not_ready' && code !== 'interrupted') throw error;
}

interface OpenedSpace extends PreviousSpace {
  readonly encoder: Encoder | undefined;
}

/** The models in use, with some of their spaces replaced by those of previous models. */
function mixed(current: Encoder, previous: readonly OpenedSpace[]): QueryEncoder {
  const replaced = new Set(previous.map(({ role }) => role));
  const kept = current.spaces.filter(({ name }) => !replaced.has(name));
  const missing = previous.filter(({ encoder }) => !encoder).map(({ role }) => absent(role));
  return {
    fusion: current.fusion,
    // A list that two spaces can serve is served by the first.
    spaces: [...previous.flatMap(spacesOf), ...kept],
    missing: [...missing, ...current.missing],
    vocabulary: current.vocabulary,
    admitQuery: () => {
      current.admitQuery();
      for (const { encoder } of previous) encoder?.admitQuery();
    },
    // A search goes on where one encoder makes all of its vectors.
    encodeQuery: async (kind, input, { search: _, ...options }, inForm) => {
      // The model in use need not encode a query for spaces that are all replaced.
      const own = kept.some(({ asksWith }) => asksWith[kind])
        ? current.encodeQuery(kind, input, options)
        : {};
      const others = previous.map(async ({ role, key, encoder }) => {
        if (!encoder) return {};
        const spec = kind === 'picture' ? encoder.pictureSpec : undefined;
        const isOther = spec && !isSameSpec(spec, current.pictureSpec);
        const adapted = isOther && inForm ? ((await inForm(spec)) as typeof input) : input;
        const vector = (await encoder.encodeQuery(kind, adapted, options))[role];
        return vector ? { [key]: vector } : {};
      });
      return Object.assign({}, ...(await Promise.all([own, ...others])));
    },
  };
}

/** What a previous model serves of its space, under the key that the index has for it. */
function spacesOf({ role, key, encoder }: OpenedSpace): Encoder['spaces'] {
  return encoder?.spaces.filter(({ name }) => name === role).map((space) => ({ ...space, key })) ?? [];
}

function absent(role: string): Missing {
  return { space: role as Missing['space'], reason: NOT_INSTALLED };
}

function isSameSpec(a: PictureSpec | undefined, b: PictureSpec | undefined): boolean {
  return a?.width === b?.width && a?.height === b?.height && a?.fit === b?.fit && a?.resample === b?.resample;
}
