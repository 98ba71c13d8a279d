import { isDeepStrictEqual } from 'node:util';
import type { Block, PictureSpec } from '@farthing/protocol/document';
import {
  type EncoderInput,
  type InputKind,
  type SegmentKind,
  type SpaceName,
  segmentKindOf,
} from '@farthing/protocol/family';
import { SEVERAL_LANGUAGES } from '@farthing/protocol/labels/language';
import type { SpaceSpec } from '../space.ts';
import {
  type Encoder,
  fillingSpaces,
  type IngestOptions,
  type Missing,
  type Passage,
  type QueryOptions,
  type ServedSpace,
} from './encoder.ts';
import { PreviousModels, type PreviousModelsOptions } from './previous-models.ts';
import { guessedLanguage, mainLanguage } from './text/main-language.ts';

/** The part of the encoder that a search uses. */
export interface QueryEncoder
  extends Pick<Encoder, 'spaces' | 'missing' | 'fusion' | 'admitQuery' | 'vocabulary' | 'wordsSearches'> {
  /** Spaces of the index whose models are not installed any more, or are being opened: what they hold is not searched. */
  readonly lost?: readonly LostSpace[];
  /** @param inForm the same picture in the form that another model wants */
  encodeQuery<K extends InputKind>(
    kind: K,
    input: EncoderInput<K>,
    options: QueryOptions,
    inForm?: (spec: PictureSpec) => Promise<Uint8Array>,
  ): Promise<Record<string, Float32Array>>;
}

/** A space that a search leaves out. */
export interface LostSpace extends Missing {
  /** Its model is being opened: a later search has it. */
  readonly isOpening?: boolean;
}

export interface IndexModelsOptions extends PreviousModelsOptions {
  readonly current: Encoder;
}

/** A Tenant's index, and the spaces that it has. */
export interface IndexSpaces {
  readonly tenant: string;
  readonly spaces: readonly SpaceSpec[];
}

/** A search's input, as far as it decides which spaces are used. */
export interface AskedOfIndex {
  readonly query?: string | undefined;
  /** What the index has. Both are looked at only where they matter. */
  readonly content: { readonly segments: number; readonly pictures: boolean };
  /** Whether the search uses a space with this name. */
  space(name: string): boolean;
}

const TEXTS = 'text_semantic' satisfies SpaceName;
const WORDS_OF_PICTURES = 'visual_words' satisfies SpaceName;
const SEGMENTS_OF: Readonly<Record<InputKind, SegmentKind>> = { text: 'passages', picture: 'pictures' };

/**
 * An index keeps its models until it ends: those in use serve new indexes, previous ones the indexes that they filled. The text
 * model of a new index depends on the language of its first text.
 */
export class IndexModels {
  readonly current: Encoder;
  readonly #previous: PreviousModels;
  /** Whether the models in use have all spaces of an index. */
  readonly #have = new WeakMap<readonly SpaceSpec[], boolean>();

  constructor({ current, ...options }: IndexModelsOptions) {
    this.current = current;
    this.#previous = new PreviousModels(options);
  }

  /** Number of previous models that are open, or being opened. */
  get previousCount(): number {
    return this.#previous.count;
  }

  /**
   * Runs a search with the models of an index. A model that is not open yet opens behind, and its space is `lost` until then.
   * @throws overloaded while too many previous models are being used
   */
  search<T>(
    { tenant, spaces }: IndexSpaces,
    asked: AskedOfIndex,
    work: (encoder: QueryEncoder) => Promise<T>,
  ): Promise<T> {
    const { current } = this;
    const knowing = this.#knowing(spaces, asked);
    if (!knowing && this.#hasAll(spaces)) return work(current);
    if (asked.content.segments === 0) return work(current);
    const kept = current.spaces.filter(({ name }) =>
      spaces.some((space) => space.name === name && isIn(current, space)),
    );
    const others = spaces.filter((space) => !isIn(current, space) && asked.space(space.name));
    const opened = knowing && !isIn(current, knowing) ? [...others, knowing] : others;
    return this.#previous.useOpen(tenant, opened, (encoders) => {
      const previous = others.map((space, at) => ({ space, encoder: encoders[at] }));
      const translates = knowing && (isIn(current, knowing) ? current : encoders.at(-1));
      // Asked in another language than it knows, the model of pictures' labels would find what is not meant.
      const isHeldBack = translates === 'opening';
      const known = isHeldBack ? kept.filter(({ name }) => name !== WORDS_OF_PICTURES) : kept;
      const held = isHeldBack ? kept.filter((space) => !known.includes(space)) : [];
      const all = [...previous, ...held.map((space) => ({ space, encoder: 'opening' as const }))];
      return work(mixed(current, known, all, isHeldBack ? undefined : translates));
    });
  }

  /** The models in use, where they alone serve a search of an index. */
  alone(spaces: readonly SpaceSpec[], asked: AskedOfIndex): Encoder | undefined {
    return this.#hasAll(spaces) && !this.#knowing(spaces, asked) ? this.current : undefined;
  }

  #hasAll(spaces: readonly SpaceSpec[]): boolean {
    const known = this.#have.get(spaces);
    if (known !== undefined) return known;
    const { current } = this;
    const have = spaces.length === current.spaces.length && spaces.every((space) => isIn(current, space));
    this.#have.set(spaces, have);
    return have;
  }

  /** The space whose model helps to describe pictures in a language that theirs does not know; undefined where none is needed. */
  #knowing(spaces: readonly SpaceSpec[], { query, content, space }: AskedOfIndex): ServedSpace | undefined {
    const { current } = this;
    const { translation } = current;
    if (!translation || query === undefined || !space(WORDS_OF_PICTURES)) return undefined;
    if (!spaces.some((one) => one.name === WORDS_OF_PICTURES && isIn(current, one))) return undefined;
    if (!content.pictures || !translation.mayBeForeign(query)) return undefined;
    return fillingSpaces(current).find(({ name, model }) => name === TEXTS && model === translation.from);
  }

  /**
   * The spaces of an index whose first text this is.
   * @param said the language of its texts, as its owner says (ISO 639-3; `mul`: several); absent: that of the text
   */
  async spacesBeginningWith(
    tenant: string,
    texts: readonly string[],
    said?: string,
  ): Promise<readonly SpaceSpec[]> {
    const { spaces, otherLanguages: other } = this.current;
    const own = spaces.find(({ name }) => name === other?.name);
    if (!other || !own) return spaces;
    const language = said ?? mainLanguage(texts);
    if (!language || knows(own, language) || !knows(other, language)) return spaces;
    const opens = await this.#previous.use(tenant, [other], async ([encoder]) => encoder !== undefined);
    return opens ? spaces.map((space) => (space === own ? other : space)) : spaces;
  }

  /** Whether an index has the text model in use, and there is one for other languages. */
  canChange(spaces: readonly SpaceSpec[]): boolean {
    const { current } = this;
    const own = spaces.find(({ name }) => name === TEXTS);
    const other = current.otherLanguages;
    return !!own && !!other && isIn(current, own) && other.modelSha256 !== own.modelSha256;
  }

  /** The space of the model for other languages, if it knows that of a document's texts and an index's own model does not. */
  knowingBetter(spaces: readonly SpaceSpec[], texts: readonly string[]): ServedSpace | undefined {
    return texts.length > 0 ? this.#better(spaces, mainLanguage(texts)) : undefined;
  }

  /** The language that texts seem to be in, where that model knows it alone. A sentence is too short to be certain of. */
  seemsOther(spaces: readonly SpaceSpec[], texts: readonly string[]): string | undefined {
    const language = texts.length > 0 ? guessedLanguage(texts) : undefined;
    return this.#better(spaces, language) && language;
  }

  #better(spaces: readonly SpaceSpec[], language: string | undefined): ServedSpace | undefined {
    const { spaces: all, otherLanguages: other } = this.current;
    const own = all.find(({ name }) => name === TEXTS);
    if (!language || !own || !other || !this.canChange(spaces)) return undefined;
    return !knows(own, language) && knows(other, language) ? other : undefined;
  }

  /** Cuts a document for the text model of an index. */
  async cutPassages(
    document: { readonly title?: string; readonly blocks: readonly Block[] },
    options: { readonly signal?: AbortSignal },
    index: IndexSpaces,
  ): Promise<Passage[]> {
    const whose = { ...options, tenant: index.tenant };
    return this.#previous.use(index.tenant, this.#othersFor('text', index), ([encoder = this.current]) =>
      encoder.cutPassages(document, whose),
    );
  }

  /** Input format of an index's pictures; undefined without a picture model. */
  async pictureSpec(index: IndexSpaces): Promise<PictureSpec | undefined> {
    const others = this.#othersFor('picture', index);
    return this.#previous.use(index.tenant, others, async (encoders) =>
      others.length > 0 ? encoders.find((encoder) => encoder)?.pictureSpec : this.current.pictureSpec,
    );
  }

  /** Vectors for the spaces of an index, each by the space's own model. A space whose model is not installed any more has none. */
  async encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: Omit<IngestOptions, 'tenant'>,
    index: IndexSpaces,
  ): Promise<Record<string, Float32Array[]>> {
    const { current } = this;
    const whose = { ...options, tenant: index.tenant };
    const own = spacesFor(kind, index).filter((space) => isIn(current, space));
    const others = this.#othersFor(kind, index);
    return this.#previous.use(index.tenant, others, async (encoders) => {
      const made = [
        own.length > 0 ? only(own, await current.encodeIngest(kind, inputs, whose)) : {},
        ...(await Promise.all(
          others.map(async (space, at) =>
            only([space], (await encoders[at]?.encodeIngest(kind, inputs, whose)) ?? {}),
          ),
        )),
      ];
      return Object.assign({}, ...made);
    });
  }

  /** Closes models that only Tenants have used that are gone: they ended, or another server has them. */
  gone(isGone: (tenant: string) => boolean): void {
    this.#previous.gone(isGone);
  }

  /** Closes the previous models. */
  close(): Promise<void> {
    return this.#previous.close();
  }

  #othersFor(kind: InputKind, index: IndexSpaces): SpaceSpec[] {
    return spacesFor(kind, index).filter((space) => !isIn(this.current, space));
  }
}

type Vectors = Record<string, Float32Array>;

interface OpenedSpace {
  readonly space: SpaceSpec;
  readonly encoder: Encoder | 'opening' | undefined;
}

const opened = ({ encoder }: OpenedSpace): Encoder | undefined =>
  encoder === 'opening' ? undefined : encoder;

/**
 * The models of an index that keeps some previous ones.
 * @param translates has the model that helps to describe pictures in other languages
 */
function mixed(
  current: Encoder,
  kept: Encoder['spaces'],
  previous: readonly OpenedSpace[],
  translates?: Encoder,
): QueryEncoder {
  const translation = translates && current.translation;
  const asksMore =
    translates && translates !== current && previous.every(({ encoder }) => encoder !== translates);
  const lost = previous.flatMap((one) => (opened(one) ? [] : [lostSpace(one)]));
  return {
    fusion: current.fusion,
    spaces: [...(translation ? kept.map(inAnyLanguage) : kept), ...previous.flatMap(servedBy)],
    lost,
    missing: [...lost, ...current.missing],
    vocabulary: current.vocabulary,
    // A search continues on the encoder's thread only if one encoder makes all of its vectors: there are no `wordsSearches`.
    admitQuery: (kind, options) => {
      current.admitQuery(kind, options);
      for (const one of previous) opened(one)?.admitQuery(kind, options);
      if (translates !== current) translates?.admitQuery(kind, options);
    },
    encodeQuery: async (kind, input, options, inForm) => {
      const made = kept.some(({ asksWith }) => asksWith[kind])
        ? current.encodeQuery(kind, input, options)
        : {};
      const others = previous.map(async (one) => {
        const { name } = one.space;
        const encoder = opened(one);
        if (!encoder) return {};
        const form = kind === 'picture' ? encoder.pictureSpec : undefined;
        const isOther = form && !isDeepStrictEqual(form, current.pictureSpec);
        const adapted = isOther && inForm ? ((await inForm(form)) as typeof input) : input;
        const vector = (await encoder.encodeQuery(kind, adapted, options))[name];
        return vector ? { [name]: vector } : {};
      });
      const [own, foreign, ...rest] = await Promise.all([
        made,
        kind === 'text' && asksMore ? translates.encodeQuery(kind, input, options) : {},
        ...others,
      ]);
      const vectors: Vectors = Object.assign(only(kept, own), ...rest);
      if (!translation || kind !== 'text') return vectors;
      const knowing: Vectors = translates === current ? own : asksMore ? foreign : vectors;
      const [described, other] = [vectors[WORDS_OF_PICTURES], knowing[TEXTS]];
      if (!described || !other) return vectors;
      return { ...vectors, [WORDS_OF_PICTURES]: translation.chosen(described, other) };
    },
  };
}

/** A space of pictures' labels, for words that another model helps to understand. */
function inAnyLanguage(space: ServedSpace): ServedSpace {
  if (space.name !== WORDS_OF_PICTURES) return space;
  return { ...space, asksWith: { ...space.asksWith, text: {} } };
}

function knows({ asksWith }: ServedSpace, language: string): boolean {
  const known = asksWith.text?.languages;
  return (
    known === undefined || (language === SEVERAL_LANGUAGES ? known.length > 1 : known.includes(language))
  );
}

function isIn({ spaces }: Pick<Encoder, 'spaces'>, { name, modelSha256 }: SpaceSpec): boolean {
  return spaces.some((space) => space.name === name && space.modelSha256 === modelSha256);
}

/** The spaces of an index that have rows for such inputs. */
function spacesFor(kind: InputKind, { spaces }: IndexSpaces): SpaceSpec[] {
  return spaces.filter(({ name }) => segmentKindOf(name) === SEGMENTS_OF[kind]);
}

/** The vectors of some spaces. */
function only<V>(
  spaces: readonly { readonly name: string }[],
  vectors: Record<string, V>,
): Record<string, V> {
  return Object.fromEntries(spaces.flatMap(({ name }) => (vectors[name] ? [[name, vectors[name]]] : [])));
}

function servedBy(one: OpenedSpace): Encoder['spaces'] {
  return opened(one)?.spaces.filter(({ name }) => name === one.space.name) ?? [];
}

function lostSpace({ space: { name }, encoder }: OpenedSpace): LostSpace {
  const isOpening = encoder === 'opening';
  const reason = isOpening
    ? 'its model is being opened; try again in a moment'
    : 'the model that filled this index is not installed any more';
  return { space: name as Missing['space'], reason, ...(isOpening && { isOpening }) };
}
