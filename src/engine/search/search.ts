import { availableParallelism } from 'node:os';
import { awaitCrossing, crossing, native } from '@farthing/native';
import { roundedMs } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { FAMILIES, LIST_NAMES, LISTS, type ListTraits, QUERY_INPUTS } from '@farthing/protocol/family';
import { isPayer, type TenantId } from '@farthing/protocol/id';
import type { LikePlace } from '@farthing/protocol/labels/like';
import type { ListScan, SearchAnswer, SearchExplanation, Timing } from '@farthing/protocol/schema/search';
import type { GrepInput, SearchInput, Verdict } from '@farthing/protocol/search';
import { Limit } from '@farthing/queues/limit';
import type { Owners } from '@farthing/queues/owners';
import type { EncoderTask } from '../encode/encoder.ts';
import type { IndexModels, QueryEncoder } from '../encode/index-models.ts';
import type { TextAnswered, WantedHits } from '../encode/text/text-queries.ts';
import { JsonArray } from '../json-array.ts';
import { searched } from '../shard/open-snapshot.ts';
import type { Shard } from '../shard/shard.ts';
import type { Grepped, ListSpace, ListVector, NativeSearch, Searched, Snapshot } from '../shard/snapshot.ts';
import type { ShardState } from '../shard/spaces.ts';
import type { Tenants } from '../shard/tenants.ts';
import type { SpaceSpec } from '../space.ts';
import { storedQuery } from './like.ts';
import type { ServedList } from './lists.ts';
import { asks, planOf, planSearch, type SearchPlan } from './plan.ts';
import { encodeQuery, listSpaces, listVectors, type QueryPictures } from './query-vectors.ts';
import type { RecallProbe } from './recall-probe.ts';
import { boundsOf, scansOf, unprovedLists } from './scan.ts';

/** An answer before it is known whether it is charged. */
export interface SearchResult extends Omit<SearchAnswer, 'hits' | 'charged' | 'warnings' | 'answers'> {
  readonly hits: JsonArray;
  /** False when nothing was searchable: such a search is not charged. */
  readonly searchable: boolean;
}

/** One search of an index that was not empty, as measured. */
export interface SearchedEvent {
  readonly lists: readonly ListScan[];
  /** Segments of the index. */
  readonly segments: number;
  readonly exact: boolean;
  readonly timing: Timing;
  /** Confidence of the first hit; 0 without one. */
  readonly confidence: number;
}

export interface SearchDeps {
  readonly tenants: Tenants;
  readonly encoders: Pick<IndexModels, 'current' | 'search'> & Partial<Pick<IndexModels, 'alone'>>;
  readonly extractor: QueryPictures;
  readonly owners: Pick<Owners, 'of'>;
  readonly observe?: (event: SearchedEvent) => void;
  readonly probe?: RecallProbe;
}

/** An index as it is before a query is encoded for it. */
interface IndexState extends ShardState {
  /** Absent where there is no index. */
  readonly planned?: Shard['planned'];
}

export interface SearchOptions {
  /** When the Tenant's Items end, if that is known. */
  readonly expiresAt?: string | null;
  /** Called, perhaps more than once, when nothing but trouble of the server can keep the search from its answer. */
  readonly onCertain?: () => void;
}

/** Options and state of a search. */
interface Asked extends SearchOptions {
  readonly signal: AbortSignal;
  readonly started: number;
}

/** A search of an index that is not empty, with its plan. */
interface Planned extends Asked {
  readonly encoder: QueryEncoder;
  readonly plan: SearchPlan;
  /** Of each list, in distinct places. */
  readonly depth: number;
  readonly expiresAt: string | null;
}

type KnownOfHits = Pick<Planned, 'depth' | 'expiresAt'>;

/** A search of words that an encoder's queue has taken. */
interface BegunWords extends Pick<Planned, 'encoder' | 'plan' | 'depth' | 'expiresAt'> {
  readonly input: WordsInput;
  readonly known: readonly SpaceSpec[];
  readonly vectors: readonly ListSpace[];
  /** Milliseconds of `performance.now()`. */
  readonly begun: number;
}

interface TaskOptions {
  readonly onTask: (task: EncoderTask) => void;
}

/** An answer, with its vectors and timing. */
interface Answered {
  readonly answer: Searched;
  /** Absent: all of the plan. */
  readonly lists?: readonly ServedList[];
  readonly vectors: readonly ListVector[];
  /** Milliseconds of `performance.now()`. */
  readonly encodedAt: number;
}

const NO_INDEX: IndexState = { segments: 0, pictures: false, spaces: [] };

/** The same limit as for a verification. */
const PAID_WAIT_MS_MAX = 5000;

/** Scans inside at once: as many as the index has threads for long ones. More wait; beyond `waitingMax` they are refused. */
const SCAN_LIMITS = { insideMax: Math.min(4, availableParallelism()), waitingMax: 1024 };

/** Encode → scan → fuse, in one Tenant's index. */
export class Search {
  readonly #deps: SearchDeps;
  /**
   * Searches that do not run on an encoder's thread: words alone, pictures, or vectors of ONNX Runtime. One owner's many searches with a
   * thousand hits delay another's by one of them.
   */
  readonly #scans = new Limit(SCAN_LIMITS, tooManyScans);
  /** Whether a scan has held up this turn of the event loop. */
  #heldTurn = false;

  constructor(deps: SearchDeps) {
    this.#deps = deps;
  }

  /**
   * Rejects a search that would fail anyway, at nearly no cost, before its payment is verified.
   * @throws family_not_applicable, family_unavailable, overloaded
   */
  admit(tenant: string, input: SearchInput): void {
    this.#admitted(this.#deps.encoders.current, tenant, input);
  }

  /**
   * Searches what is searchable now: whole Items only, from one snapshot. `signal` cancels the search.
   * @throws family_not_applicable, family_unavailable, image_unreadable, overloaded
   */
  async run(
    tenant: string,
    input: SearchInput,
    signal: AbortSignal,
    options: SearchOptions = {},
  ): Promise<SearchResult> {
    const started = performance.now();
    const { encoders } = this.#deps;
    const inState = (state: IndexState): Promise<SearchResult | undefined> => {
      const work = (encoder: QueryEncoder) =>
        this.#run(tenant, state, input, { ...options, signal, started, encoder });
      if (!state.planned) return work(encoders.current);
      return encoders.search({ tenant, spaces: state.spaces }, askedOf(input, state), work);
    };
    const state = await this.#stateOf(tenant);
    const result = await inState(state);
    if (result) return result;
    // It has ended since, or was closed, which it also is for another model.
    const now = await this.#stateOf(tenant);
    return (now.segments > 0 ? await inState(now) : undefined) ?? emptyResult(started);
  }

  /**
   * As `run`, for words alone in an open index that the models in use serve: nothing is waited for but the encoder's queue.
   * @param mayBegin called once nothing keeps it from beginning
   * @param done told once, later: the answer, or a promise of it where more is to be done
   * @returns gives the search up, and `done` is told nothing then; undefined where nothing has begun, and `run` is to answer
   */
  begin(
    tenant: string,
    input: WordsInput,
    { expiresAt, mayBegin }: { readonly expiresAt: string | null; readonly mayBegin: () => boolean },
    done: (answer: SearchResult | Promise<SearchResult>) => void,
  ): (() => void) | undefined {
    const started = performance.now();
    const { tenants, encoders, owners } = this.#deps;
    const shard = tenants.useNow(tenant);
    const state = shard?.state();
    const encoder = state && encoders.alone?.(state.spaces, askedOf(input, state));
    const searches = encoder?.wordsSearches;
    const plan = searches && planIfServed(input, encoder);
    if (!shard || !plan) return undefined;
    const vectors = listSpaces(plan.lists);
    const index = shard.planned(plan.native, vectors);
    if (!mayBegin()) return undefined;
    const depth = depthOf(input, encoder);
    const wanted = wantedOf(input, { depth, expiresAt });
    const search = { index, words: input.query, asks: isQuestion(input.query), wanted };
    const options = { tenant: owners.of(tenant), waitMsMax: waitOf(tenant) };
    const asked = { encoder, plan, depth, expiresAt, input, known: shard.spaces, vectors, begun: started };
    let left: AbortController | undefined;
    const signal = () => {
      left = new AbortController();
      return left.signal;
    };
    // Where its index has ended since, or was closed, `run` sees to the rest.
    const result = (found: Answered | undefined) =>
      found
        ? this.#resultOf(tenant, input, { encoder, plan, depth, started }, found, [])
        : this.run(tenant, input, signal(), { expiresAt });
    const outcome = (answered: TextAnswered) => {
      try {
        const found = this.#foundByWords(tenant, asked, answered, signal);
        return found instanceof Promise ? found.then(result) : result(found);
      } catch (error) {
        return Promise.reject(error);
      }
    };
    const heard = (error: unknown, answered?: TextAnswered) =>
      done(answered ? outcome(answered) : Promise.reject(error));
    try {
      const giveUp = searches.begin(search, vectors.length > 0, options, heard);
      return () => {
        giveUp();
        left?.abort();
      };
    } catch (error) {
      let isLeft = false;
      queueMicrotask(() => isLeft || heard(error));
      return () => {
        isLeft = true;
      };
    }
  }

  /**
   * Lines that match a pattern, of what is searchable now.
   * @throws field_invalid for a pattern that is none, overloaded
   */
  async grep(
    tenant: string,
    input: GrepInput,
    signal: AbortSignal,
    expiresAt: string | null = null,
  ): Promise<Grepped> {
    const { owners, tenants } = this.#deps;
    return this.#scans.run(owners.of(tenant), async () => {
      const found = await tenants.useIfThere(tenant, (shard) =>
        withSnapshot(shard, (snapshot) => unlessLeft(signal, () => snapshot.grep(input, expiresAt, signal))),
      );
      if (found) return found;
      await awaitCrossing(() => native.checkPattern(input.pattern, input.ignoreCase));
      return { lines: JsonArray.EMPTY, next: null };
    });
  }

  /** Undefined where the index has ended since, was closed, or has another model. */
  async #run(
    tenant: string,
    state: IndexState,
    input: SearchInput,
    asked: Asked & Pick<Planned, 'encoder'>,
  ): Promise<SearchResult | undefined> {
    const { extractor } = this.#deps;
    const { encoder, signal, started, expiresAt = null } = asked;
    const tasks: EncoderTask[] = [];
    const onTask = (task: EncoderTask) => void tasks.push(task);
    const depth = depthOf(input, encoder);
    let plan: SearchPlan;
    let found: Answered | undefined;
    if (encoder.wordsSearches && state.planned && isOfWords(input)) {
      plan = plannedNow(input, encoder);
      // What has nothing to answer is never certain of an answer.
      if (asked.onCertain && state.segments === 0) return emptyResult(started);
      const known = { ...asked, plan, expiresAt, depth, onTask };
      found = await this.#answerWords(tenant, state, input, encoder.wordsSearches, known);
    } else {
      plan = this.#admitted(encoder, tenant, input);
      const known = { ...asked, plan, expiresAt, depth };
      if (state.segments === 0) {
        // An unreadable picture is refused before an empty index is reported.
        if (input.image) await extractor.checkPicture(input.image, { tenant, signal });
        return emptyResult(started);
      }
      found = input.like
        ? await this.#answerLike(tenant, state, input.like, input, known)
        : await this.#answer(tenant, state, input, { ...known, onTask });
    }
    if (!found) return undefined;
    return this.#resultOf(tenant, input, { encoder, plan, depth, started }, found, tasks);
  }

  #resultOf(
    tenant: string,
    input: SearchInput,
    { encoder, plan, depth, started }: Pick<Planned, 'encoder' | 'plan' | 'depth' | 'started'>,
    { answer, vectors, encodedAt, lists = plan.lists }: Answered,
    tasks: readonly EncoderTask[],
  ): SearchResult {
    const { observe, probe } = this.#deps;
    const notSearched = lostFamilies(input, encoder);
    const { hits, corrected, relaxed, segments, confidence, scanMs, fuseMs } = answer;
    const scans = scansOf(lists, answer);
    const timing = { encode_ms: encodedAt - started, scan_ms: scanMs, fuse_ms: fuseMs };
    const exact = scans.every((scan) => scan.exact);
    observe?.({ lists: scans, segments, exact, timing, confidence });
    probe?.consider(tenant, unprovedLists(scans, vectors, depth));
    return {
      hits,
      ...verdictOf(answer, encoder.fusion.answered_min),
      ...(corrected !== undefined && { corrected }),
      ...(relaxed && { relaxed }),
      exact,
      bounds: boundsOf(scans),
      ...(input.max_chars !== undefined && { truncated: answer.truncated }),
      ...(notSearched.length > 0 && { not_searched: notSearched }),
      searchable: true,
      latency_ms: performance.now() - started,
      timing,
      ...(input.explain && { explanation: { lists: scans, segments, depth, tasks: tasks.map(shownTask) } }),
    };
  }

  /** The plan of a search, if the encoder would accept its query now. */
  #admitted(encoder: QueryEncoder, tenant: string, input: SearchInput): SearchPlan {
    const plan = plannedNow(input, encoder);
    if (input.like) return plan;
    const options = { tenant: this.#deps.owners.of(tenant), waitMsMax: waitOf(tenant) };
    const kinds = new Set(
      plan.lists.flatMap(({ traits }) => (traits.scans === 'vectors' ? QUERY_INPUTS[traits.asksWith] : [])),
    );
    for (const kind of kinds) encoder.admitQuery(kind, options);
    return plan;
  }

  /** One native task encodes the words and searches. It waits for no index: what was committed meanwhile is found. */
  async #answerWords(
    tenant: string,
    { planned, spaces: known }: IndexState,
    input: WordsInput,
    searches: NonNullable<QueryEncoder['wordsSearches']>,
    { encoder, plan, depth, expiresAt, signal, onTask, onCertain }: Planned & TaskOptions,
  ): Promise<Answered | undefined> {
    const { query } = input;
    const wanted = wantedOf(input, { depth, expiresAt });
    const spaces = listSpaces(plan.lists);
    const index = planned!(plan.native, spaces);
    const options = { tenant: this.#deps.owners.of(tenant), signal, waitMsMax: waitOf(tenant) };
    const begun = performance.now();
    const answering = searches.search(
      { index, words: query, asks: isQuestion(query), wanted },
      spaces.length > 0,
      { ...options, ...(onCertain && { onBegun: onCertain }) },
    );
    const answered = await unlessLeft(signal, () => answering);
    if (spaces.length > 0 && !answered.isEmpty) onTask(answered.task);
    const asked = { encoder, plan, depth, expiresAt, input, known, vectors: spaces, begun };
    return this.#foundByWords(tenant, asked, answered, () => signal);
  }

  /** Undefined where nothing was searched; a promise where a scan is to follow. */
  #foundByWords(
    tenant: string,
    { encoder, plan, depth, expiresAt, input, known, vectors: spaces, begun }: BegunWords,
    { encodedMs, vector, answer, isEmpty }: TextAnswered,
    signal: () => AbortSignal,
  ): Answered | undefined | Promise<Answered | undefined> {
    if (isEmpty) return undefined;
    const vectors = vector ? spaces.map((space) => ({ ...space, vector })) : [];
    const encodedAt = begun + encodedMs;
    if (answer) return { answer: searched(answer), vectors, encodedAt };
    // The index was closed before anything was encoded.
    if (spaces.length > 0 && !vector) return undefined;
    const search = askedSearch(plan, input, encoder, { depth, expiresAt });
    const scan = this.#scan(tenant, search, { vectors, known }, signal());
    return scan.then((there) => there && { answer: there, vectors, encodedAt });
  }

  /** Encodes the query, and searches. */
  async #answer(
    tenant: string,
    { spaces: known }: IndexState,
    input: SearchInput,
    { encoder, plan, depth, expiresAt, signal, onTask, onCertain }: Planned & TaskOptions,
  ): Promise<Answered | undefined> {
    const { extractor } = this.#deps;
    const { lists } = plan;
    const search = askedSearch(plan, input, encoder, { depth, expiresAt });
    // A picture may be unreadable.
    if (!input.image) onCertain?.();
    const owner = this.#deps.owners.of(tenant);
    const options = { tenant: owner, signal, onTask, waitMsMax: waitOf(tenant) };
    const encoded = await encodeQuery(input, lists, { encoder, extractor }, options);
    const encodedAt = performance.now();
    onCertain?.();
    const vectors = listVectors(lists, encoded);
    const { picture } = encoded;
    if (picture) search.askPicture(picture.fingerprint, picture.digest);
    const answer = await this.#scan(tenant, search, { vectors, known }, signal);
    return answer && { answer, vectors, encodedAt };
  }

  /** Searches with what is stored of an item. Undefined when the index has ended since. @throws field_invalid */
  async #answerLike(
    tenant: string,
    { spaces: known }: IndexState,
    like: LikePlace,
    input: SearchInput,
    { encoder, plan, depth, expiresAt, signal }: Planned,
  ): Promise<Answered | undefined> {
    const stored = await this.#deps.tenants.useIfThere(tenant, (shard) =>
      withSnapshot(shard, (snapshot) => storedQuery(snapshot, like, plan.lists)),
    );
    if (!stored) return undefined;
    const isAsked = ({ space, traits }: ServedList) =>
      space === undefined
        ? traits.scans === 'words' && stored.query !== undefined
        : stored.vectors.some((vector) => vector.space === space);
    const lists = plan.lists.filter(isAsked);
    if (lists.length === 0)
      throw new FarthingError('field_invalid', 'like: there is nothing of it to compare.', {
        facts: { field: 'like' },
      });
    const asked = planOf(lists, encoder.fusion);
    const { query } = stored;
    const isByWords = lists.some(({ traits }) => traits.scans === 'words');
    const words = isByWords ? query : undefined;
    const search = askedSearch(asked, { ...input, query: words }, encoder, { depth, expiresAt });
    for (const [first, last] of stored.itself) search.leaveOut(first, last);
    const vectors = listSpaces(lists).map(({ list, space }) => ({
      ...stored.vectors.find((vector) => vector.space === space)!,
      list,
    }));
    const encodedAt = performance.now();
    const answer = await this.#scan(tenant, search, { vectors, known }, signal);
    return answer && { answer, lists, vectors, encodedAt };
  }

  /** Searches with vectors that are made for the spaces of an index. Undefined when it has ended since. */
  #scan(
    tenant: string,
    search: NativeSearch,
    { vectors, known }: { readonly vectors: readonly ListVector[]; readonly known: readonly SpaceSpec[] },
    signal: AbortSignal,
  ): Promise<Searched | undefined> {
    return this.#scans.run(this.#deps.owners.of(tenant), async () => {
      const mayBlock = this.#mayHoldTurn();
      if (signal.aborted) throw clientLeft();
      return this.#deps.tenants.useIfThere(tenant, (shard) => {
        // A payer's next index may have other models.
        if (!vectors.every(({ space }) => modelOf(shard.spaces, space) === modelOf(known, space)))
          return undefined;
        return withSnapshot(shard, (snapshot) =>
          unlessLeft(signal, async () => snapshot.search(search, vectors, { signal, mayBlock })),
        );
      });
    });
  }

  /** Whether a scan is alone, and may hold up the event loop for a short time: once in each of its turns. */
  #mayHoldTurn(): boolean {
    if (this.#heldTurn || this.#scans.inside > 1) return false;
    this.#heldTurn = true;
    setImmediate(() => {
      this.#heldTurn = false;
    });
    return true;
  }

  async #stateOf(tenant: string): Promise<IndexState> {
    const found = await this.#deps.tenants.useIfThere(tenant, (shard) =>
      Object.assign(shard.state(), { planned: shard.planned }),
    );
    return found ?? NO_INDEX;
  }
}

/** The plan of a search. @throws overloaded where nothing is left of it until a model is open */
function plannedNow(input: SearchInput, encoder: QueryEncoder): SearchPlan {
  try {
    return planSearch(input, encoder);
  } catch (error) {
    const isOpening = lostFamilies(input, encoder).some(({ reason }) => reason === 'model_opening');
    if (!isOpening || (error as FarthingError).code !== 'family_unavailable') throw error;
    throw new FarthingError('overloaded', 'The model of this index is being opened. Try again.', {
      retryAfterS: 1,
    });
  }
}

/** A paid search waits as its payment does: it was signed for this answer. A workspace's has the encoder's short wait. */
function waitOf(tenant: string): number | undefined {
  return isPayer(tenant as TenantId) ? PAID_WAIT_MS_MAX : undefined;
}

/** A search of words alone. */
export type WordsInput = SearchInput & { readonly query: string };

function askedOf(input: SearchInput, content: ShardState) {
  return { query: input.query, content, space: (name: string) => asksSpace(input, name) };
}

function planIfServed(input: SearchInput, encoder: QueryEncoder): SearchPlan | undefined {
  try {
    return planSearch(input, encoder);
  } catch {
    return undefined;
  }
}

function isOfWords(input: SearchInput): input is WordsInput {
  return input.query !== undefined && !input.image && !input.like;
}

/** Depth of each list, in distinct places. */
function depthOf({ k }: SearchInput, { fusion }: QueryEncoder): number {
  return Math.max(k, fusion.depth);
}

/** A search with all that is known before its query is encoded. */
function askedSearch(
  plan: SearchPlan,
  input: SearchInput,
  { vocabulary }: QueryEncoder,
  known: KnownOfHits,
): NativeSearch {
  const { query, like } = input;
  const search = crossing(() => new native.NativeSearch(plan.native, ...wantedOf(input, known)));
  if (query !== undefined) search.askWords(query, vocabulary, like === undefined && isQuestion(query));
  return search;
}

function wantedOf(input: SearchInput, { depth, expiresAt }: KnownOfHits): WantedHits {
  const { k, exact = false, min_confidence = 0, explain = false, filter, order } = input;
  return [k, depth, exact, min_confidence, explain, expiresAt, filter, extentOf(input), order];
}

/** How much text hits show; undefined: a snippet. */
function extentOf({ passages, max_chars: unitsMax }: Pick<SearchInput, 'passages' | 'max_chars'>) {
  if (passages === undefined && unitsMax === undefined) return undefined;
  return { around: passages ?? 0, ...(unitsMax !== undefined && { unitsMax }) };
}

/** @throws request_malformed once the client has left */
async function unlessLeft<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? clientLeft() : error;
  }
}

/** Whether any hit is likely to answer. */
function verdictOf({ found, confidence, filteredOut }: Searched, answeredMin: number): Verdict {
  if (filteredOut) return { answered: false, reason: 'nothing_in_filter' };
  if (found === 0) return { answered: false, reason: 'nothing_found' };
  return confidence >= answeredMin ? { answered: true } : { answered: false, reason: 'unlikely' };
}

function clientLeft(): FarthingError {
  return new FarthingError('request_malformed', 'The client closed the connection.');
}

function tooManyScans(): FarthingError {
  return new FarthingError('overloaded', 'Too many searches are waiting. Try again.', { retryAfterS: 1 });
}

function emptyResult(started: number): SearchResult {
  return {
    hits: JsonArray.EMPTY,
    answered: false,
    reason: 'nothing_searchable',
    latency_ms: performance.now() - started,
    timing: {},
    exact: true,
    bounds: {},
    searchable: false,
  };
}

function modelOf(spaces: readonly SpaceSpec[], space: string): string | undefined {
  return spaces.find(({ name }) => name === space)?.modelSha256;
}

/** Whether a search uses a vector space. */
function asksSpace(input: SearchInput, space: string): boolean {
  return askedLists(input).some((list) => list.scans === 'vectors' && list.spaces.includes(space));
}

/** Requested families whose vectors in this index no installed model can search, or none that is open yet. */
function lostFamilies(
  input: SearchInput,
  { lost = [] }: QueryEncoder,
): NonNullable<SearchAnswer['not_searched']> {
  if (lost.length === 0) return [];
  const lostBy = (list: ListTraits) =>
    list.scans === 'vectors' ? lost.find(({ space }) => list.spaces.includes(space)) : undefined;
  const families = new Map(
    askedLists(input).flatMap((list) => {
      const by = lostBy(list);
      return by ? [[list.family, by.isOpening ? 'model_opening' : 'model_not_installed'] as const] : [];
    }),
  );
  return [...families].map(([family, reason]) => ({ family, reason }));
}

function askedLists(input: SearchInput): ListTraits[] {
  const { families = FAMILIES } = input;
  return LIST_NAMES.map((name) => LISTS[name]).filter(
    (list) => families.includes(list.family) && asks(input, list),
  );
}

/** Holds one snapshot while `work` runs. Pages are not reused until it ends: keep it short. */
async function withSnapshot<T>(shard: Shard, work: (snapshot: Snapshot) => Promise<T> | T): Promise<T> {
  const snapshot = shard.snapshot();
  try {
    return await work(snapshot);
  } finally {
    snapshot.close();
  }
}

function shownTask({
  kind,
  entries,
  waitedMs,
  milliseconds,
}: EncoderTask): SearchExplanation['tasks'][number] {
  return { kind, batch: entries, waited_ms: roundedMs(waitedMs), ran_ms: roundedMs(milliseconds) };
}

const QUESTION =
  /\?\s*$|^\s*(?:(?:who|whom|whose|what|which|when|where|why|how)\b|(?:is|are|was|were|do|does|did|can|could|may|must|shall|should|will|would|has|have|had)\s+(?:an?|the|this|that|there|i|we|you|he|she|it|they|my|our|your)\b)/i;

/** Whether words ask something: by their end in any language, by their beginning in English, the language of descriptions. */
export function isQuestion(words: string): boolean {
  return QUESTION.test(words);
}
