import type { PictureContent } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';
import {
  confidenceOf,
  type FusionSettings,
  type ListName,
  type QueryLanguage,
  weightOf,
} from '../domain/fusion.ts';
import type { Item } from '../domain/item.ts';
import type {
  Hit,
  ListScan,
  SearchExplanation,
  SearchInput,
  SearchResult,
  Timing,
} from '../domain/search.ts';
import type { SegmentRecord } from '../domain/segment.ts';
import type { Encoder, EncoderTask } from '../encode/encoder.ts';
import type { Extractor } from '../extract/extractor.ts';
import { native } from '../native/index.ts';
import type { RankedList, Shard, Snapshot } from '../shard/shard.ts';
import type { Tenants } from '../shard/tenants.ts';
import { countPlaces, type FusedPlace, fuse, type ScoredList } from './fuse.ts';
import { planLists } from './plan.ts';

/** A snippet's length in characters: enough to see why a passage was found. */
const SNIPPET_LENGTH = 320;
/** How often a list may be asked again, twice as deep each time, because many of its Segments share a place. */
const DEEPENINGS_MAX = 4;

interface QueryVectors {
  readonly spaces: Readonly<Record<string, Float32Array>>;
  readonly picture?: PictureContent;
  readonly pictureSpaces: Readonly<Record<string, Float32Array>>;
}

/** What one search of an index that was not empty did, for whoever measures. */
export interface SearchedEvent {
  readonly lists: readonly ListScan[];
  /** Segments of the index. */
  readonly segments: number;
  readonly exact: boolean;
  readonly timing: Timing;
}

export interface SearchParts {
  readonly tenants: Tenants;
  readonly encoder: Encoder;
  readonly extractor: Extractor;
  readonly observe?: (event: SearchedEvent) => void;
}

interface Scanned {
  readonly hits: Hit[];
  readonly exact: boolean;
  readonly timing: Timing;
  readonly scans: readonly ListScan[];
  readonly segments: number;
  readonly depth: number;
}

/** Encode → scan → fuse, in one tenant's index. */
export class Search {
  readonly #tenants: Tenants;
  readonly #encoder: Encoder;
  readonly #extractor: Extractor;
  readonly #observe: SearchParts['observe'];

  constructor({ tenants, encoder, extractor, observe }: SearchParts) {
    this.#tenants = tenants;
    this.#encoder = encoder;
    this.#extractor = extractor;
    this.#observe = observe;
  }

  /**
   * Searches what is searchable now: whole Items only, from one snapshot. `signal` gives the search up.
   * @throws family_not_applicable, family_unavailable, image_unreadable, overloaded
   */
  async run(tenant: string, input: SearchInput, signal: AbortSignal): Promise<SearchResult> {
    const started = performance.now();
    const lists = planLists(input, this.#encoder.fusion, this.#encoder.families);
    if (lists.some((list) => !list.startsWith('raw'))) this.#encoder.admitQuery();
    if (!(await this.#isSearchable(tenant))) {
      // An unreadable picture is refused before an empty index is reported.
      if (input.image) await this.#extractor.decodePicture(input.image);
      return {
        hits: [],
        latency_ms: performance.now() - started,
        timing: {},
        exact: true,
        searchable: false,
      };
    }
    const tasks: EncoderTask[] = [];
    const vectors = await this.#encode(tenant, input, lists, signal, (task) => tasks.push(task));
    if (signal.aborted) throw new FarthingError('request_malformed', 'The client closed the connection.');
    const encoded = performance.now();
    const { hits, exact, timing, scans, segments, depth } = await this.#tenants.use(tenant, {}, (shard) =>
      withSnapshot(shard, (snapshot) => this.#scanAndFuse(snapshot, input, lists, vectors)),
    );
    const stages = { encode_ms: encoded - started, ...timing };
    this.#observe?.({ lists: scans, segments, exact, timing: stages });
    return {
      hits,
      exact,
      searchable: true,
      latency_ms: performance.now() - started,
      timing: stages,
      ...(input.explain && { explanation: { lists: scans, segments, depth, tasks: tasks.map(shownTask) } }),
    };
  }

  async #isSearchable(tenant: string): Promise<boolean> {
    if (!this.#tenants.exists(tenant)) return false;
    try {
      return await this.#tenants.use(tenant, {}, (shard) =>
        withSnapshot(shard, (snapshot) => snapshot.counts().segments > 0),
      );
    } catch (error) {
      if (error instanceof FarthingError && error.code === 'not_found') return false;
      throw error;
    }
  }

  async #encode(
    tenant: string,
    input: SearchInput,
    lists: readonly ListName[],
    signal: AbortSignal,
    onTask: (task: EncoderTask) => void,
  ): Promise<QueryVectors> {
    const needsWords = lists.includes('text_semantic') || lists.includes('visual_words');
    const words =
      input.query !== undefined && needsWords
        ? this.#encoder.encodeQuery(input.query, { tenant, signal, onTask })
        : {};
    const picture = input.image && (await this.#extractor.decodePicture(input.image));
    const pictureSpaces =
      picture && lists.includes('visual_picture')
        ? await this.#encoder.encodeQueryPicture(picture.pixels, { tenant, signal, onTask })
        : {};
    return { spaces: await words, picture, pictureSpaces };
  }

  #scanAndFuse(
    snapshot: Snapshot,
    { query, k, explain }: SearchInput,
    lists: readonly ListName[],
    vectors: QueryVectors,
  ): Scanned {
    const started = performance.now();
    const settings = this.#encoder.fusion;
    const depth = Math.max(k, settings.depth);
    const ranked = lists.map((list) => ({
      list,
      ...deepEnough(snapshot, depth, (n) => ask(snapshot, list, settings, query, vectors, n)),
    }));
    const scanned = performance.now();
    const language = query === undefined ? undefined : native.detectLanguage(query);
    const scored = ranked.map(({ list, ranking }) => scoredList(list, ranking, settings, language));
    const places = placesOf(snapshot, scored);
    const hits = toHits(
      snapshot,
      fuse(scored, (segment) => places.get(segment)!, { k, depth, explain }),
    );
    const timing = { scan_ms: scanned - started, fuse_ms: performance.now() - scanned };
    const scans = ranked.map(({ list, ranking: { scanned, rescored, exact } }) => ({
      list,
      scanned,
      rescored,
      exact,
    }));
    const { segments } = snapshot.counts();
    return { hits, exact: scans.every(({ exact }) => exact), timing, scans, segments, depth };
  }
}

/** One snapshot for as long as `work` runs: a long one would stop the reuse of pages. */
function withSnapshot<T>(shard: Shard, work: (snapshot: Snapshot) => T): T {
  const snapshot = shard.snapshot();
  try {
    return work(snapshot);
  } finally {
    snapshot.close();
  }
}

/** Asks for twice as many Segments until the list reaches `depth` places or holds all there are. */
function deepEnough(
  snapshot: Snapshot,
  depth: number,
  ask: (n: number) => RankedList,
): { ranking: RankedList } {
  let n = depth;
  for (let deepening = 0; ; deepening += 1, n *= 2) {
    const ranking = ask(n);
    if (ranking.segments.length < n || deepening === DEEPENINGS_MAX) return { ranking };
    const places = snapshot.places(ranking.segments);
    let index = 0;
    if (countPlaces(ranking.segments, () => places[index++]!) >= depth) return { ranking };
  }
}

function ask(
  snapshot: Snapshot,
  list: ListName,
  settings: FusionSettings,
  query: string | undefined,
  vectors: QueryVectors,
  n: number,
): RankedList {
  if (list === 'raw_words') return snapshot.searchWords(query!, n);
  if (list === 'raw_picture')
    return snapshot.searchPicture(vectors.picture!.fingerprint, vectors.picture!.digest, n);
  const space = settings.lists[list]!.space!;
  const vector = list === 'visual_picture' ? vectors.pictureSpaces[space] : vectors.spaces[space];
  return snapshot.searchVector(space, vector!, n);
}

function scoredList(
  list: ListName,
  ranking: RankedList,
  settings: FusionSettings,
  language: QueryLanguage | null | undefined,
): ScoredList {
  const of = settings.lists[list]!;
  return {
    name: list,
    family: of.family,
    kind: list === 'text_semantic' || list === 'raw_words' ? 'passages' : 'pictures',
    nearIdentical: list === 'raw_picture',
    weight: weightOf(settings, of, language),
    confidence: (score) => confidenceOf(of.calibration, score, ranking.ceiling || 1),
    segments: ranking.segments,
    scores: ranking.scores,
  };
}

function placesOf(snapshot: Snapshot, lists: readonly ScoredList[]): Map<number, number> {
  const places = new Map<number, number>();
  for (const { segments } of lists) {
    for (const [index, place] of snapshot.places(segments).entries()) places.set(segments[index]!, place);
  }
  return places;
}

function toHits(snapshot: Snapshot, fused: readonly FusedPlace[]): Hit[] {
  const records = snapshot.records(Uint32Array.from(fused, ({ segment }) => segment));
  const items = new Map<string, Item | undefined>();
  const hits: Hit[] = [];
  for (const [index, { family, score, confidence, segments, explanation }] of fused.entries()) {
    const record = records[index];
    if (!record) continue;
    if (!items.has(record.item)) items.set(record.item, snapshot.item(record.item));
    const item = items.get(record.item);
    if (item)
      hits.push({
        item,
        confidence,
        family,
        locator: record.locator,
        score,
        ...snippetOf(record),
        segments,
        ...(explanation && { explanation }),
      });
  }
  return hits;
}

function shownTask({
  kind,
  entries,
  waitedMs,
  milliseconds,
}: EncoderTask): SearchExplanation['tasks'][number] {
  return { kind, batch: entries, waited_ms: waitedMs, ran_ms: milliseconds };
}

function snippetOf({ text }: SegmentRecord): { snippet?: string } {
  if (text === undefined) return {};
  return { snippet: text.length > SNIPPET_LENGTH ? `${text.slice(0, SNIPPET_LENGTH).trimEnd()}…` : text };
}
