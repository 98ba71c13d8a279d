import type { PictureContent, PictureSpec } from '../domain/document.ts';
import { errorCode, FarthingError } from '../domain/error.ts';
import type { Family } from '../domain/family.ts';
import {
  confidenceOf,
  type FusionSettings,
  type ListName,
  type QueryLanguage,
  weightOf,
} from '../domain/fusion.ts';
import {
  type Bound,
  type Hit,
  type ListScan,
  RECALL_HELD,
  type SearchExplanation,
  type SearchInput,
  type SearchResult,
  type Timing,
} from '../domain/search.ts';
import type { ShownSegment } from '../domain/segment.ts';
import type { EncodeOptions, EncoderTask } from '../encode/encoder.ts';
import type { ModelVersions, QueryEncoder } from '../encode/model-versions.ts';
import type { Extractor } from '../extract/extractor.ts';
import { native } from '../native/index.ts';
import type { Shard } from '../shard/shard.ts';
import type { Question, RankedList, Snapshot } from '../shard/snapshot.ts';
import type { FormerSpace } from '../shard/spaces.ts';
import type { Tenants } from '../shard/tenants.ts';
import { type FusedPlace, fuse, type ScoredList } from './fuse.ts';
import { LIST_TRAITS, planLists } from './plan.ts';
import type { RecallProbe, UnprovedList } from './recall-probe.ts';
import { LoopYields } from './yield-to-loop.ts';

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

export interface SearchDeps {
  readonly tenants: Tenants;
  readonly encoders: Pick<ModelVersions, 'current' | 'searching'>;
  readonly extractor: Extractor;
  readonly observe?: (event: SearchedEvent) => void;
  readonly probe?: RecallProbe;
}

interface Look {
  readonly searchable: boolean;
  /** Spaces that former models serve. */
  readonly formers: readonly FormerSpace[];
}

interface Scanned {
  readonly hits: Hit[];
  readonly timing: Timing;
  readonly scans: readonly ListScan[];
  readonly unproved: readonly UnprovedList[];
  readonly segments: number;
  readonly depth: number;
}

/** An index passes to another model once for each of its three spaces. */
const MODEL_CHANGES_MAX = 4;

/** Encode → scan → fuse, in one tenant's index. */
export class Search {
  readonly #tenants: Tenants;
  readonly #encoders: SearchDeps['encoders'];
  readonly #extractor: Extractor;
  readonly #observe: SearchDeps['observe'];
  readonly #probe: RecallProbe | undefined;
  readonly #turns = new LoopYields();

  constructor({ tenants, encoders, extractor, observe, probe }: SearchDeps) {
    this.#probe = probe;
    this.#tenants = tenants;
    this.#encoders = encoders;
    this.#extractor = extractor;
    this.#observe = observe;
  }

  /**
   * Refuses what would be refused when it runs, while that costs nearly nothing: nobody has been asked to verify a payment yet.
   * @throws family_not_applicable, family_unavailable, overloaded
   */
  admit(input: SearchInput): void {
    admitted(this.#encoders.current, input);
  }

  /**
   * Searches what is searchable now: whole Items only, from one snapshot. `signal` gives the search up.
   * @throws family_not_applicable, family_unavailable, image_unreadable, overloaded
   */
  async run(tenant: string, input: SearchInput, signal: AbortSignal): Promise<SearchResult> {
    const started = performance.now();
    // Again where the index has ended, or passed from one model to another meanwhile: vectors of two models are never compared.
    for (let tries = 0; tries < MODEL_CHANGES_MAX; tries++) {
      const now = await this.#look(tenant);
      try {
        const found = await this.#attempt(tenant, now, input, signal, started);
        if (found) return found;
      } catch (error) {
        // A former model is closed once no index needs it: this one has passed on since it was looked at.
        if (now.formers.length === 0 || errorCode(error) !== 'not_ready') throw error;
      }
    }
    throw new FarthingError('overloaded', 'The index is changing its models. Try again.', { retryAfterS: 1 });
  }

  async #attempt(
    tenant: string,
    { searchable, formers }: Look,
    input: SearchInput,
    signal: AbortSignal,
    started: number,
  ): Promise<SearchResult | undefined> {
    const encoder = formers.length === 0 ? this.#encoders.current : await this.#encoders.searching(formers);
    const lists = admitted(encoder, input);
    if (!searchable) {
      // An unreadable picture is refused before an empty index is reported.
      if (input.image) await this.#extractor.decodePicture(input.image);
      return {
        hits: [],
        latency_ms: performance.now() - started,
        timing: {},
        exact: true,
        bounds: {},
        searchable: false,
      };
    }
    const tasks: EncoderTask[] = [];
    const vectors = await this.#encode(encoder, tenant, input, lists, signal, (task) => tasks.push(task));
    const encoded = performance.now();
    await this.#turns.take();
    if (signal.aborted) throw clientLeft();
    const answer = await this.#tenants.useIfThere(tenant, (shard) =>
      withSnapshot(shard, (snapshot) =>
        isSame(snapshot.formers(), formers)
          ? this.#scanAndFuse(snapshot, encoder.fusion, input, lists, vectors, signal)
          : undefined,
      ),
    );
    if (!answer) return undefined;
    const { hits, timing, scans, unproved, segments, depth } = answer;
    const stages = { encode_ms: encoded - started, ...timing };
    const exact = scans.every((scan) => scan.exact);
    this.#observe?.({ lists: scans, segments, exact, timing: stages });
    this.#probe?.consider(tenant, unproved);
    return {
      hits,
      exact,
      bounds: boundsOf(scans),
      searchable: true,
      latency_ms: performance.now() - started,
      timing: stages,
      ...(input.explain && { explanation: { lists: scans, segments, depth, tasks: tasks.map(shownTask) } }),
    };
  }

  /** Whether there is anything to search, and which spaces of it are former models'. */
  async #look(tenant: string): Promise<Look> {
    const look = await this.#tenants.useIfThere(tenant, (shard) =>
      withSnapshot(shard, (snapshot) => ({
        searchable: snapshot.counts().segments > 0,
        formers: snapshot.formers(),
      })),
    );
    return look ?? { searchable: false, formers: [] };
  }

  async #encode(
    encoder: QueryEncoder,
    tenant: string,
    input: SearchInput,
    lists: readonly ListName[],
    signal: AbortSignal,
    onTask: (task: EncoderTask) => void,
  ): Promise<QueryVectors> {
    const options = { tenant, signal, onTask };
    const needsWords = lists.includes('text_semantic') || lists.includes('visual_words');
    const [spaces, seen] = await Promise.all([
      input.query !== undefined && needsWords ? encoder.encodeQuery(input.query, options) : {},
      input.image && this.#encodePicture(encoder, input.image, lists, options),
    ]);
    return { spaces, pictureSpaces: {}, ...seen };
  }

  async #encodePicture(
    encoder: QueryEncoder,
    image: Uint8Array,
    lists: readonly ListName[],
    options: EncodeOptions,
  ): Promise<Pick<QueryVectors, 'picture' | 'pictureSpaces'>> {
    const picture = await this.#extractor.decodePicture(image);
    if (!lists.includes('visual_picture')) return { picture, pictureSpaces: {} };
    const again = async (spec: PictureSpec) => (await this.#extractor.decodePicture(image, spec)).pixels;
    return { picture, pictureSpaces: await encoder.encodeQueryPicture(picture.pixels, options, again) };
  }

  async #scanAndFuse(
    snapshot: Snapshot,
    settings: FusionSettings,
    { query, k, explain, exact = false }: SearchInput,
    lists: readonly ListName[],
    vectors: QueryVectors,
    signal: AbortSignal,
  ): Promise<Scanned> {
    const started = performance.now();
    const depth = Math.max(k, settings.depth);
    const language = query === undefined ? undefined : native.detectLanguage(query);
    const scored: ScoredList[] = [];
    const scans: ListScan[] = [];
    const unproved: UnprovedList[] = [];
    for (const list of lists) {
      const question = questionOf(list, settings, query, vectors, language);
      const ranking = await rank(snapshot, question, { depth, exact }, signal);
      scored.push(scoredList(list, ranking, settings, language));
      const { scanned, rescored, method } = ranking;
      scans.push({ list, scanned, rescored, exact: ranking.exact, method });
      if (!ranking.exact) unproved.push({ list, method, question, depth });
    }
    const scanned = performance.now();
    const hits = toHits(snapshot, fuse(scored, { k, depth, explain }), query);
    const timing = { scan_ms: scanned - started, fuse_ms: performance.now() - scanned };
    return { hits, timing, scans, unproved, segments: snapshot.counts().segments, depth };
  }
}

/** The lists of a search, once the encoder would take its query. */
function admitted(encoder: QueryEncoder, input: SearchInput): ListName[] {
  const lists = planLists(input, encoder.fusion, encoder.families);
  if (lists.some((list) => !list.startsWith('raw'))) encoder.admitQuery();
  return lists;
}

function isSame(a: readonly FormerSpace[], b: readonly FormerSpace[]): boolean {
  return a.length === b.length && a.every(({ key }, index) => key === b[index]!.key);
}

function clientLeft(): FarthingError {
  return new FarthingError('request_malformed', 'The client closed the connection.');
}

/** A ranked list; waited for only where the index is so large that it comes from another thread. */
function rank(
  snapshot: Snapshot,
  question: Question,
  want: { readonly depth: number; readonly exact: boolean },
  signal: AbortSignal,
): RankedList | Promise<RankedList> {
  const ranking = snapshot.rank(question, want, signal);
  if (!(ranking instanceof Promise)) return ranking;
  return ranking.catch((error: unknown) => {
    throw signal.aborted ? clientLeft() : error;
  });
}

/** A family is proved when each of its lists is. */
function boundsOf(scans: readonly ListScan[]): SearchResult['bounds'] {
  const bounds: Partial<Record<Family, Bound>> = {};
  for (const { list, exact } of scans) {
    const { family } = LIST_TRAITS[list];
    if (!exact) bounds[family] = { exact, recall: RECALL_HELD };
    else bounds[family] ??= { exact };
  }
  return bounds;
}

/** One snapshot for as long as `work` runs: a long one would stop the reuse of pages. */
async function withSnapshot<T>(shard: Shard, work: (snapshot: Snapshot) => Promise<T> | T): Promise<T> {
  const snapshot = shard.snapshot();
  try {
    return await work(snapshot);
  } finally {
    snapshot.close();
  }
}

function questionOf(
  list: ListName,
  settings: FusionSettings,
  query: string | undefined,
  vectors: QueryVectors,
  language: QueryLanguage | null | undefined,
): Question {
  if (list === 'raw_words')
    return { words: query!, ...(language?.reliable && { language: language.language }) };
  if (list === 'raw_picture')
    return { fingerprint: vectors.picture!.fingerprint, digest: vectors.picture!.digest };
  const space = settings.lists[list]!.space!;
  const vector = list === 'visual_picture' ? vectors.pictureSpaces[space] : vectors.spaces[space];
  return { space, vector: vector! };
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
    places: ranking.places,
  };
}

/** Reads what a hit shows, for the places of the answer alone. */
function toHits(snapshot: Snapshot, fused: readonly FusedPlace[], query: string | undefined): Hit[] {
  const { records, items } = snapshot.hits(
    Uint32Array.from(fused, ({ segment }) => segment),
    query,
  );
  const hits: Hit[] = [];
  for (const [index, { family, score, confidence, segments, explanation }] of fused.entries()) {
    const record = records[index];
    const item = record && items[record.item];
    if (item)
      hits.push({
        item,
        confidence,
        family,
        locator: record.locator,
        score,
        ...shownText(record),
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

/** What a hit shows of a passage; nothing of a picture. */
function shownText({
  snippet,
  highlights,
  text_source = 'native',
  ocr_confidence,
}: ShownSegment): Pick<Hit, 'snippet' | 'highlights' | 'text_source' | 'ocr_confidence'> {
  if (snippet === undefined) return {};
  return { snippet, highlights, text_source, ...(ocr_confidence !== undefined && { ocr_confidence }) };
}
