import type { ServedSpace } from '@farthing/engine/encode/encoder';
import type { IndexModels } from '@farthing/engine/encode/index-models';
import type { Shard } from '@farthing/engine/shard/shard';
import type { Snapshot } from '@farthing/engine/shard/snapshot';
import type { Tenants } from '@farthing/engine/shard/tenants';
import type { SpaceSpec } from '@farthing/engine/space';
import { errorCode } from '@farthing/protocol/error';
import type { SpaceName } from '@farthing/protocol/family';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import type { Owners } from '@farthing/queues/owners';
import { retryOverloaded } from './ports/retry-overloaded.ts';

export interface ModelChangesDeps {
  readonly tenants: Tenants;
  readonly models: IndexModels;
  readonly owners: Owners;
  /** What a Tenant's owner has said its texts are in: its index keeps the model of that. */
  readonly languageOf: (tenant: string) => string | undefined;
  readonly log: (event: object) => void;
}

/** Segments of an index that still changes its model. */
const SEGMENTS_MAX = 300;
const AT_ONCE = 32;
const ITEMS_AT_ONCE = 100;
/** Words of a title before a passage: a quarter of a passage's. */
const TITLE_WORDS_MAX = 45;
/** Indexes that are known not to need a look; one that is forgotten is looked at again. */
const LOOKED_AT_MAX = 10_000;
/** Jobs may write to the index each time. */
const TRIES_MAX = 5;
const TEXTS = 'text_semantic' satisfies SpaceName;

/** What was encoded of a passage, and its vector. */
interface Made {
  readonly words: string;
  readonly vector: Float32Array;
}

/** Passages of an index by their Segments, and the space whose model knows their languages better than its own. */
interface KnownBetter {
  readonly space: ServedSpace;
  readonly passages: ReadonlyMap<number, string>;
}

/** What is known of an index that jobs write to, or whose model may change. */
interface Known {
  /** Jobs that encode for it, or store what they encoded. */
  jobs: number;
  /** Texts came that its model may not know. */
  isDue: boolean;
  isChanging: boolean;
  /** The index takes the new vectors: jobs that begin wait for it. */
  swap?: Promise<unknown>;
  /** New vectors by their Segments, until the index takes them. */
  made?: Map<number, Made>;
}

/**
 * Changes the text model of small indexes. One that began in a language that the model in use knows, and gets texts of another, has its
 * passages encoded again by the model for other languages, behind the jobs of all. The old vectors answer until the new ones take their
 * place, in one commit. After a crash the next text begins it again. No index changes back.
 */
export class ModelChanges {
  readonly #deps: ModelChangesDeps;
  readonly #known = new Map<string, Known>();
  /** Indexes that were looked at since the start. */
  readonly #lookedAt = new Set<string>();
  readonly #ending = new AbortController();
  /** One index at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(deps: ModelChangesDeps) {
    this.#deps = deps;
  }

  /** Runs a job that encodes for an index and stores it there: the model stays the same for as long. */
  async keeping<T>(tenant: string, job: () => Promise<T>): Promise<T> {
    const known = this.#of(tenant);
    known.jobs += 1;
    try {
      await known.swap;
      return await job();
    } finally {
      known.jobs -= 1;
      if (known.jobs === 0) this.#free(tenant, known);
    }
  }

  /** Texts of a document come to an index. */
  comes(tenant: string, texts: readonly string[], spaces: readonly SpaceSpec[]): void {
    const { models, languageOf } = this.#deps;
    if (texts.length === 0 || !models.canChange(spaces) || languageOf(tenant) !== undefined) return;
    const isNew = !this.#lookedAt.has(tenant);
    const isOther = () => models.seemsOther(spaces, texts) ?? models.knowingBetter(spaces, texts);
    if (isNew || isOther()) this.#of(tenant).isDue = true;
  }

  /** Stops: what is encoded and not in its index yet is lost. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#last;
  }

  #of(tenant: string): Known {
    const known = this.#known.get(tenant) ?? { jobs: 0, isDue: false, isChanging: false };
    this.#known.set(tenant, known);
    return known;
  }

  /** No job writes to an index. */
  #free(tenant: string, known: Known): void {
    if (!known.isDue) {
      if (!known.isChanging) this.#known.delete(tenant);
      return;
    }
    known.isDue = false;
    known.isChanging = true;
    this.#lookedAt.add(tenant);
    forgetOldest(this.#lookedAt, LOOKED_AT_MAX);
    this.#last = this.#last.then(() => this.#change(tenant, known));
  }

  async #change(tenant: string, known: Known): Promise<void> {
    const { log } = this.#deps;
    const began = performance.now();
    try {
      const changed = await this.#encodeAgain(tenant, known);
      const ms = Math.round(performance.now() - began);
      if (changed) log({ event: 'index_model_changed', tenant, ...changed, ms });
    } catch (error) {
      if (!this.#ending.signal.aborted && errorCode(error) !== 'not_found')
        log({ event: 'index_model_kept', tenant, error: String(error), level: 'warn' });
    } finally {
      known.isChanging = false;
      // With jobs that write to it, it goes on with these vectors behind them.
      if (!known.isDue) delete known.made;
      if (known.jobs === 0) this.#free(tenant, known);
    }
  }

  /** @returns the model that the index has now; undefined where it keeps its own, or jobs write to it: then it goes on behind them */
  async #encodeAgain(tenant: string, known: Known): Promise<{ model: string; passages: number } | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const read = await this.#deps.tenants.useIfThere(tenant, (shard) => this.#read(shard));
      if (!read) return undefined;
      known.made ??= new Map();
      const { space, passages } = read;
      const missing = [...passages].filter(([segment, words]) => known.made?.get(segment)?.words !== words);
      if (missing.length > 0) {
        if (!(await this.#encode(tenant, space, missing, known.made))) return undefined;
        continue;
      }
      if (known.jobs > 0) {
        known.isDue = true;
        return undefined;
      }
      // Jobs that begin from here on wait.
      const swap = this.#swap(tenant, space, [...passages.keys()], known.made);
      known.swap = swap.catch(() => undefined);
      const isDone = await swap.finally(() => delete known.swap);
      if (isDone) return { model: space.model, passages: passages.size };
    }
    return undefined;
  }

  /** Undefined: no model knows it better, or the index is large. */
  async #read(shard: Shard): Promise<KnownBetter | undefined> {
    if (shard.state().segments > SEGMENTS_MAX) return undefined;
    const snapshot = shard.snapshot();
    try {
      return await this.#readFrom(shard, snapshot);
    } finally {
      snapshot.close();
    }
  }

  async #readFrom(shard: Shard, snapshot: Snapshot): Promise<KnownBetter | undefined> {
    const { models } = this.#deps;
    const passages = new Map<number, string>();
    let space: ServedSpace | undefined;
    /** Texts of documents that are too short to be certain of, by the language that they seem to be in. */
    const seeming = new Map<string, string[]>();
    for (let place = 0; ; ) {
      const { items, next } = shard.itemsFrom(place, ITEMS_AT_ONCE);
      if (items.length === 0) break;
      place = next;
      for (const { id, title } of items) {
        const range = snapshot.segmentsOf(id);
        if (!range || range.count === 0) continue;
        const segments = Uint32Array.from({ length: range.count }, (_, at) => range.first + at);
        const vectors = await snapshot.vectors(TEXTS, segments);
        this.#ending.signal.throwIfAborted();
        const texts = snapshot.records(segments).flatMap((record, at) => {
          if (!vectors[at] || record?.text === undefined) return [];
          passages.set(segments[at]!, wordsOf(title, record.text));
          return record.text;
        });
        space ??= models.knowingBetter(shard.spaces, texts);
        const language = space ? undefined : models.seemsOther(shard.spaces, texts);
        if (language) seeming.set(language, [...(seeming.get(language) ?? []), ...texts]);
      }
    }
    for (const together of seeming.values()) space ??= models.knowingBetter(shard.spaces, together);
    return space && { space, passages };
  }

  /** False where the model is not installed any more. */
  async #encode(
    tenant: string,
    space: ServedSpace,
    passages: readonly (readonly [segment: number, words: string])[],
    made: Map<number, Made>,
  ): Promise<boolean> {
    const { models, owners } = this.#deps;
    const { signal } = this.#ending;
    const options = { tenant: owners.of(tenant), signal };
    for (let from = 0; from < passages.length; from += AT_ONCE) {
      const part = passages.slice(from, from + AT_ONCE);
      const inputs = part.map(([, words]) => words);
      const encode = () => models.encodeIngest('text', inputs, options, { tenant, spaces: [space] });
      const rows = (await retryOverloaded(encode, signal))[TEXTS];
      if (!rows) return false;
      for (const [at, [segment, words]] of part.entries()) made.set(segment, { words, vector: rows[at]! });
    }
    return true;
  }

  #swap(
    tenant: string,
    { name, dimensions, modelSha256 }: ServedSpace,
    segments: readonly number[],
    made: ReadonlyMap<number, Made>,
  ): Promise<boolean> {
    const values = new Float32Array(segments.length * dimensions);
    for (const [at, segment] of segments.entries()) values.set(made.get(segment)!.vector, at * dimensions);
    const rows = { segments: Uint32Array.from(segments), values };
    return this.#deps.tenants.changeModel(tenant, { name, dimensions, modelSha256 }, rows);
  }
}

/** What is encoded of a passage: its document's title, and its text. */
function wordsOf(title: string | undefined, text: string): string {
  const words = title?.trim().split(/\s+/).slice(0, TITLE_WORDS_MAX).join(' ');
  return words ? `${words}\n${text}` : text;
}
