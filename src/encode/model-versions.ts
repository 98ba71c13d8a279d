import type { PictureSpec, Pixels } from '../domain/document.ts';
import { errorCode } from '../domain/error.ts';
import type { FusionSettings, ListName, ListSettings } from '../domain/fusion.ts';
import type { EncodeOptions, Encoder, IngestOptions } from './encoder.ts';
import type { FilledSpace } from './models/previous-model.ts';

/** A space of an index that another model filled than the one in use; `key`: what its vectors go by. */
export interface FormerSpace extends FilledSpace {
  readonly key: string;
}

/** What a search needs of the encoders. */
export interface QueryEncoder extends Pick<Encoder, 'fusion' | 'families' | 'admitQuery' | 'encodeQuery'> {
  /** `again`: the same picture in the form that another model wants. */
  encodeQueryPicture(
    pixels: Pixels,
    options: EncodeOptions,
    again: (spec: PictureSpec) => Promise<Pixels>,
  ): Promise<Record<string, Float32Array>>;
}

export interface GenerationsOptions {
  readonly current: Encoder;
  /** Opens the model that filled a space; undefined when it cannot be had. */
  readonly open: (space: FilledSpace) => Promise<Encoder | undefined>;
  readonly log: (event: object) => void;
}

/**
 * The models in use, and beside them those that filled indexes before: opened when the first index needs them, and closed
 * when none does any more.
 */
export class ModelVersions {
  readonly current: Encoder;
  readonly #options: GenerationsOptions;
  readonly #formers = new Map<string, Promise<Encoder | undefined>>();

  constructor(options: GenerationsOptions) {
    this.#options = options;
    this.current = options.current;
  }

  /** Undefined when the model is not installed (any more). */
  former(space: FilledSpace): Promise<Encoder | undefined> {
    const name = `${space.role} ${space.modelSha256}`;
    let encoder = this.#formers.get(name);
    if (!encoder) {
      encoder = this.#open(space);
      this.#formers.set(name, encoder);
    }
    return encoder;
  }

  async #open({ role, modelSha256 }: FilledSpace): Promise<Encoder | undefined> {
    const { open, log } = this.#options;
    const encoder = await open({ role, modelSha256 }).catch((error: unknown) => {
      log({ event: 'former_model_failed', role, model_sha256: modelSha256, error: String(error) });
      return undefined;
    });
    log({ event: encoder ? 'former_model_loaded' : 'former_model_missing', role, model_sha256: modelSha256 });
    return encoder;
  }

  /** How many former models are loaded, or being loaded. */
  get formerCount(): number {
    return this.#formers.size;
  }

  /** What searches an index, some of whose spaces may be former models'. */
  async searching(formers: readonly FormerSpace[]): Promise<QueryEncoder> {
    const { current } = this;
    if (formers.length === 0) return current;
    const opened = await Promise.all(
      formers.map(async (space) => ({ ...space, encoder: await this.former(space) })),
    );
    return mixed(current, opened);
  }

  /** Vectors of passages by the models in use and, under the keys of an index's former spaces, by theirs. */
  encodePassages(
    texts: readonly string[],
    options: IngestOptions,
    formers: readonly FormerSpace[],
  ): Promise<Record<string, Float32Array[]>> {
    return this.#withFormers(formers, (encoder) => encoder.encodePassages(texts, options));
  }

  /** As encodePassages. A former model that wants its pictures in another form gives none. */
  encodePictures(
    pictures: readonly Pixels[],
    options: IngestOptions,
    formers: readonly FormerSpace[],
  ): Promise<Record<string, Float32Array[]>> {
    return this.#withFormers(formers, async (encoder) =>
      sameSpec(encoder.pictureSpec, this.current.pictureSpec)
        ? encoder.encodePictures(pictures, options)
        : {},
    );
  }

  async #withFormers(
    formers: readonly FormerSpace[],
    encode: (encoder: Encoder) => Promise<Record<string, Float32Array[]>>,
  ): Promise<Record<string, Float32Array[]>> {
    const vectors = { ...(await encode(this.current)) };
    for (const former of formers) {
      const encoder = await this.former(former);
      // Closed meanwhile: then no index needs its vectors any more.
      const made = encoder && (await encode(encoder).catch(unlessClosed));
      const rows = made?.[former.role];
      if (rows) vectors[former.key] = rows;
    }
    return vectors;
  }

  /** Closes the former models: no index needs them any more, or the server stops. One that is needed again is opened again. */
  async closeFormers(): Promise<void> {
    const formers = [...this.#formers.values()];
    this.#formers.clear();
    for (const encoder of formers) await (await encoder)?.close();
  }
}

const FAMILY_OF: Readonly<Record<string, string>> = {
  text_semantic: 'text_semantic',
  visual_picture: 'visual',
  visual_words: 'visual',
};
const LOST =
  'the model that filled this index is not installed any more; it is being encoded again by the one in use';

function unlessClosed(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'not_ready' && code !== 'interrupted') throw error;
}

interface OpenedFormer extends FormerSpace {
  readonly encoder: Encoder | undefined;
}

/** The model in use, and in the place of some of its spaces those of former models. */
function mixed(current: Encoder, formers: readonly OpenedFormer[]): QueryEncoder {
  const keyed = (vectors: Record<string, Float32Array>, { role, key }: FormerSpace) =>
    vectors[role] ? { [key]: vectors[role] } : {};
  const replaced = new Set(formers.map(({ role }) => role));
  // Without a list of its own left, the model in use need not encode.
  const needed = Object.values(current.fusion.lists).some(({ space }) => space && !replaced.has(space));
  return {
    fusion: mixedFusion(current.fusion, formers),
    families: current.families.map((report) => {
      const lost = formers.some(({ role, encoder }) => !encoder && FAMILY_OF[role] === report.family);
      return lost ? { ...report, reason: LOST } : report;
    }),
    admitQuery: () => {
      current.admitQuery();
      for (const { encoder } of formers) encoder?.admitQuery();
    },
    encodeQuery: async (text: string, options: EncodeOptions) => {
      const own = needed ? current.encodeQuery(text, options) : {};
      const others = formers.map(async (former) =>
        keyed((await former.encoder?.encodeQuery(text, options)) ?? {}, former),
      );
      return Object.assign({}, ...(await Promise.all([own, ...others])));
    },
    encodeQueryPicture: async (pixels, options, again) => {
      const own = current.encodeQueryPicture(pixels, options);
      const others = formers.map(async (former) => {
        const spec = former.encoder?.pictureSpec;
        if (!former.encoder || !spec) return {};
        const seen = sameSpec(spec, current.pictureSpec) ? pixels : await again(spec);
        return keyed(await former.encoder.encodeQueryPicture(seen, options), former);
      });
      return Object.assign({}, ...(await Promise.all([own, ...others])));
    },
  };
}

/** Lists on a space that a former model serves are that model's, with its weight and calibration. */
function mixedFusion(current: FusionSettings, formers: readonly OpenedFormer[]): FusionSettings {
  const replaced = new Set(formers.map(({ role }) => role));
  const lists: Partial<Record<ListName, ListSettings>> = {};
  const entries = Object.entries as (of: FusionSettings['lists']) => [ListName, ListSettings][];
  for (const [list, settings] of entries(current.lists))
    if (!settings.space || !replaced.has(settings.space)) lists[list] = settings;
  for (const { role, key, encoder } of formers) {
    for (const [list, settings] of entries(encoder?.fusion.lists ?? {}))
      if (settings.space === role) lists[list] = { ...settings, space: key };
  }
  return { ...current, lists };
}

function sameSpec(a: PictureSpec | undefined, b: PictureSpec | undefined): boolean {
  return a?.width === b?.width && a?.height === b?.height && a?.fit === b?.fit && a?.resample === b?.resample;
}
