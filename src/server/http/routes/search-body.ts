import type { WordsInput } from '@farthing/engine/search/search';
import { shown } from '@farthing/protocol/allowed';
import { brief } from '@farthing/protocol/brief';
import { FarthingError } from '@farthing/protocol/error';
import { FAMILIES, type Family } from '@farthing/protocol/family';
import { readFilter } from '@farthing/protocol/labels/filter';
import { type LikePlace, readLike } from '@farthing/protocol/labels/like';
import { readOrder } from '@farthing/protocol/labels/order';
import { nearest } from '@farthing/protocol/nearest';
import { FilterSchema } from '@farthing/protocol/schema/filter';
import { OrderSchema } from '@farthing/protocol/schema/order';
import { QuestionSchema, type SearchRequest, SearchRequestSchema } from '@farthing/protocol/schema/requests';
import { K_DEFAULT, K_MAX, QUERY_LENGTH_MAX, type SearchInput } from '@farthing/protocol/search';
import { type TObject, Type } from '@sinclair/typebox';
import { BODY_LIMITS, bodyTooLarge, type SplitBody, splitBody } from '../body/split-body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { parseJsonObject, Validator } from '../exchange/json.ts';
import type { Several } from './several-answers.ts';

/** Filters and orders are read by `readFilter` and `readOrder`, and questions by themselves: their errors say more. */
export const ANY_FILTER = Type.Unknown({ $id: FilterSchema.$id! });
const ANY_ORDER = Type.Unknown({ $id: OrderSchema.$id! });
const ANY_QUESTION = Type.Unknown({ $id: QuestionSchema.$id! });
const codeOf = (field: string, { path }: { readonly path: string }) =>
  field === 'families' && path.split('/').length > 2 ? 'family_unknown' : 'field_invalid';
/** A schema whose `like` is read by `readLike`. */
const withAnyLike = <S extends TObject>(schema: S): S => ({
  ...schema,
  properties: { ...schema.properties, like: Type.Optional(Type.Unknown()) },
});
const validator = new Validator(withAnyLike(SearchRequestSchema), codeOf, [
  ANY_FILTER,
  ANY_ORDER,
  ANY_QUESTION,
]);
const questionValidator = new Validator(withAnyLike(QuestionSchema), codeOf, [ANY_FILTER]);

const FIELD_SHOWN_MAX = 64;

/** One question, as part of a request's identity. Defaults are absent, but for `k`. */
interface AskedIdentity extends Omit<SearchInput, 'image'> {
  readonly image_sha256?: string;
}

/** A validated search, and its body's part in the request's identity. */
export interface ParsedSearch {
  /** One, or those of `queries`. */
  readonly inputs: readonly SearchInput[];
  /** How the answers to `queries` are shown. Absent: one question was asked. */
  readonly several?: Several;
  /** One for each question. */
  readonly asked: readonly AskedIdentity[];
  readonly identity: AskedIdentity | { readonly queries: readonly AskedIdentity[]; readonly fused: boolean };
  readonly warnings: readonly string[];
}

/** So few bytes are within every limit of `splitBody`. */
const PLAIN_BYTES_MAX = Math.min(BODY_LIMITS.bytes, BODY_LIMITS.values);
/** A picture, an escape that may hide its name, a byte order mark, and objects, whose members `splitBody` puts in order. */
const NOT_PLAIN = /image_b64|\\|^\ufeff|\{.*\{/s;
/** Members of the searches that `readPlainSearch` reads. */
const PLAIN: ReadonlySet<string> = new Set<keyof SearchRequest>([
  'query',
  'families',
  'k',
  'exact',
  'min_confidence',
  'passages',
  'max_chars',
  'explain',
]);
const NOTHING_APART: Partial<SplitBody> = {};

/** Reads and validates a SearchRequest. @throws a 400 that names the field. */
export async function readSearch(exchange: Exchange, bodyBytesMax: number): Promise<ParsedSearch> {
  const body = await exchange.body.whole(bodyBytesMax);
  const text = body.byteLength <= PLAIN_BYTES_MAX ? body.toString('utf8') : undefined;
  const isPlain = text !== undefined && !NOT_PLAIN.test(text);
  const split = isPlain ? NOTHING_APART : await splitBody(body, false);
  // A body that is no JSON object is parsed once more, for its error.
  if (split.json === undefined && body.byteLength > BODY_LIMITS.bytes) throw bodyTooLarge();
  const sent = parseJsonObject(split.json ?? text ?? body.toString('utf8'));
  // An empty string replaces it in the JSON.
  if (split.picture || split.isUnreadable) delete sent.image_b64;
  refuseFilterLike(sent);
  const { value, warnings: named } = validator.validate(sent);
  const warnings = isPlain && named.length > 1 ? named.toSorted() : named;
  if (split.isUnreadable) {
    throw new FarthingError('image_unreadable', 'image_b64: send a picture file in standard base64.', {
      facts: { field: 'image_b64' },
    });
  }
  const query = value.query?.trim() ? value.query : undefined;
  const image = split.picture;
  const like = likeOf(value.like, query !== undefined || image !== undefined);
  if (value.queries) {
    const isAlone = query === undefined && !image && !like;
    return severalOf(value, { isAlone, warnings });
  }
  if (query === undefined && image === undefined && !like) {
    const what = `Send "query" (words), "image_b64" (a picture), or both; or "like" (an item).${meant(sent)}`;
    throw new FarthingError('search_empty', what, { facts: { field: 'query' } });
  }
  const options = { ...(like && { like }), ...optionsOf(value) };
  const identity = { query, image_sha256: split.pictureSha256?.toString('hex'), ...options };
  return { inputs: [{ query, image, ...options }], asked: [identity], identity, warnings };
}

/** A search of words with simple members, as `readSearch` reads it; undefined for any other, and for all that has a fault or a warning. */
export function readPlainSearch(body: Buffer): WordsInput | undefined {
  if (body.byteLength > PLAIN_BYTES_MAX) return undefined;
  const text = body.toString('utf8');
  if (NOT_PLAIN.test(text)) return undefined;
  try {
    const { value, warnings } = validator.validate(parseJsonObject(text));
    const { query, explain } = value;
    if (warnings.length > 0 || !query?.trim() || explain) return undefined;
    for (const name in value) if (!PLAIN.has(name)) return undefined;
    return { query, ...optionsOf(value) };
  } catch {
    return undefined;
  }
}

/** Estimates the number of questions in an unread search, for its price. */
export function questionsIn(body: Buffer): number {
  try {
    const { queries } = parseJsonObject(body.toString('utf8'));
    return Array.isArray(queries) ? Math.max(1, queries.length) : 1;
  } catch {
    return 1;
  }
}

function severalOf(
  value: SearchRequest,
  { isAlone, warnings }: { readonly isAlone: boolean; readonly warnings: readonly string[] },
): ParsedSearch {
  if (!isAlone) throw ofQueries('send "queries" alone, or "query" and "image_b64", or "like"');
  const { queries = [], fused = false, ...common } = value;
  const all = [...warnings];
  const asked = queries.map((question, at) => {
    if (typeof question === 'string') return questionOf(question, common, at);
    if (typeof question !== 'object' || question === null || Array.isArray(question))
      throw ofQueries(`${at}: send a text, or an object with "query"`);
    refuseFilterLike(question as Record<string, unknown>, `queries/${at}: `);
    const own = validated(question, at);
    all.push(...own.warnings.map((warning) => `queries/${at}: ${warning}`));
    const options = { ...common, ...own.value };
    return own.value.like === undefined
      ? questionOf(own.value.query ?? '', options, at)
      : { like: likeOfQuestion(own.value, at), ...optionsOf(options) };
  });
  const hits = asked.reduce((sum, { k }) => sum + k, 0);
  if (hits > K_MAX)
    throw ofQueries(`ask for at most ${K_MAX} hits in all, not ${hits}: give "k"`, { limit: K_MAX });
  const several = {
    fused,
    k: common.k ?? K_DEFAULT,
    maxChars: common.max_chars,
    order: common.order,
    isEachOrdered: (common.min_confidence ?? 0) > 0,
  };
  return { inputs: asked, several, asked, identity: { queries: asked, fused }, warnings: all };
}

function validated(question: object, at: number): ReturnType<typeof questionValidator.validate> {
  try {
    return questionValidator.validate(question as Record<string, unknown>);
  } catch (error) {
    if (!(error instanceof FarthingError)) throw error;
    const { code, detail, facts } = error;
    throw new FarthingError(code, `queries/${at}: ${detail}`, { facts: { ...facts, field: 'queries' } });
  }
}

/** What hits are to be like; undefined where nothing is named. @throws field_invalid */
function likeOf(value: unknown, isBeside: boolean): LikePlace | undefined {
  if (value === undefined) return undefined;
  if (isBeside)
    throw new FarthingError('field_invalid', 'like: send "like" alone, without "query" and "image_b64".', {
      facts: { field: 'like' },
    });
  return readLike(value);
}

function likeOfQuestion({ like, query }: { like?: unknown; query?: string }, at: number): LikePlace {
  if (query !== undefined) throw ofQueries(`${at}: send "query" or "like"`);
  try {
    return readLike(like);
  } catch (error) {
    throw error instanceof FarthingError ? ofQueries(`${at}: ${error.detail.replace(/\.$/, '')}`) : error;
  }
}

function questionOf(query: string, value: SearchRequest, at: number): AskedIdentity & { query: string } {
  if (!query.trim()) throw ofQueries(`${at}: the question has no words`);
  if (query.length > QUERY_LENGTH_MAX)
    throw ofQueries(`${at}: send a question of at most ${QUERY_LENGTH_MAX} characters`);
  return { query, ...optionsOf(value) };
}

function optionsOf(value: SearchRequest): Omit<AskedIdentity, 'query' | 'image_sha256'> {
  const { passages, max_chars } = value;
  const filter = value.filter === undefined ? undefined : readFilter(value.filter);
  return {
    families: canonicalFamilies(value.families),
    k: value.k ?? K_DEFAULT,
    ...(filter !== undefined && { filter }),
    ...(value.order !== undefined && { order: readOrder(value.order) }),
    ...(value.explain === true && ({ explain: true } as const)),
    ...(value.exact === true && ({ exact: true } as const)),
    ...(value.min_confidence && { min_confidence: value.min_confidence }),
    ...(passages !== undefined && { passages }),
    ...(max_chars !== undefined && { max_chars }),
  };
}

function ofQueries(what: string, facts: object = {}): FarthingError {
  return new FarthingError('field_invalid', `queries: ${what}.`, { facts: { field: 'queries', ...facts } });
}

/** Names by which other search engines know a filter. */
const FILTER_LIKE = ['where', 'query_filter', 'filter_query', 'fq'];

/** An unknown field is a warning, but not one that is taken for a filter: all files would be searched. @throws field_invalid */
export function refuseFilterLike(
  sent: Readonly<Record<string, unknown>>,
  at = '',
  { properties }: TObject = SearchRequestSchema,
): void {
  const known = Object.keys(properties);
  const field = Object.keys(sent).find(
    (name) =>
      sent[name] !== null &&
      !known.includes(name) &&
      (FILTER_LIKE.includes(name.toLowerCase()) || nearest(name, known) === 'filter'),
  );
  if (field === undefined) return;
  const what = `${at}there is no ${shown(field)}. Write "filter", such as {"filter": {"media_type": "application/pdf"}}.`;
  throw new FarthingError('field_invalid', what, { facts: { field: brief(field, FIELD_SHOWN_MAX) } });
}

/** Guesses which field was meant by an unknown one with a text. */
function meant(sent: Readonly<Record<string, unknown>>): string {
  const known = Object.keys(SearchRequestSchema.properties);
  const name = Object.keys(sent).find((field) => typeof sent[field] === 'string' && !known.includes(field));
  if (name === undefined) return '';
  const field = /ima?ge?|pic|photo/i.test(name) ? 'image_b64' : 'query';
  return ` ${shown(name)} is not a field: did you mean "${field}"?`;
}

/** Sorted and without duplicates, so that the same set is the same request. */
function canonicalFamilies(families: readonly string[] | undefined): readonly Family[] | undefined {
  return families && FAMILIES.filter((family) => families.includes(family));
}
