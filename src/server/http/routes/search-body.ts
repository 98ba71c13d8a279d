import { shown } from '@farthing/protocol/allowed';
import { brief } from '@farthing/protocol/brief';
import { FarthingError } from '@farthing/protocol/error';
import { FAMILIES, type Family } from '@farthing/protocol/family';
import { readFilter } from '@farthing/protocol/labels/filter';
import { nearest } from '@farthing/protocol/nearest';
import { FilterSchema } from '@farthing/protocol/schema/filter';
import { QuestionSchema, type SearchRequest, SearchRequestSchema } from '@farthing/protocol/schema/requests';
import { K_DEFAULT, K_MAX, QUERY_LENGTH_MAX, type SearchInput } from '@farthing/protocol/search';
import { Type } from '@sinclair/typebox';
import { BODY_LIMITS, bodyTooLarge, splitBody } from '../body/split-body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { parseJsonObject, Validator } from '../exchange/json.ts';
import type { Several } from './several-answers.ts';

/** Filters are read by `readFilter`, and questions by themselves: their errors say more. */
const ANY_FILTER = Type.Unknown({ $id: FilterSchema.$id! });
const ANY_QUESTION = Type.Unknown({ $id: QuestionSchema.$id! });
const codeOf = (field: string, { path }: { readonly path: string }) =>
  field === 'families' && path.split('/').length > 2 ? 'family_unknown' : 'field_invalid';
const validator = new Validator(SearchRequestSchema, codeOf, [ANY_FILTER, ANY_QUESTION]);
const questionValidator = new Validator(QuestionSchema, codeOf, [ANY_FILTER]);

const FIELD_SHOWN_MAX = 64;

/** One question, as part of a request's identity. Defaults are absent, but for `k`. */
interface AskedIdentity {
  readonly query?: string;
  readonly image_sha256?: string;
  readonly families?: readonly Family[];
  readonly k: number;
  /** In the one form that `readFilter` gives it. */
  readonly filter?: string;
  readonly explain?: true;
  readonly exact?: true;
  readonly min_confidence?: number;
  readonly passages?: number;
  readonly max_chars?: number;
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

/** Reads and validates a SearchRequest. @throws a 400 that names the field. */
export async function readSearch(exchange: Exchange, bodyBytesMax: number): Promise<ParsedSearch> {
  const body = await exchange.body.whole(bodyBytesMax);
  const split = await splitBody(body, false);
  // A body that is no JSON object is parsed once more, for its error.
  if (split.json === undefined && body.byteLength > BODY_LIMITS.bytes) throw bodyTooLarge();
  const sent = parseJsonObject(split.json ?? body.toString('utf8'));
  // An empty string replaces it in the JSON.
  if (split.picture || split.isUnreadable) delete sent.image_b64;
  refuseFilterLike(sent);
  const { value, warnings } = validator.validate(sent);
  if (split.isUnreadable) {
    throw new FarthingError('image_unreadable', 'image_b64: send a picture file in standard base64.', {
      facts: { field: 'image_b64' },
    });
  }
  const query = value.query?.trim() ? value.query : undefined;
  const image = split.picture;
  if (value.queries) return severalOf(value, { isAlone: query === undefined && !image, warnings });
  if (query === undefined && image === undefined) {
    const what = `Send "query" (words), "image_b64" (a picture), or both.${meant(sent)}`;
    throw new FarthingError('search_empty', what, { facts: { field: 'query' } });
  }
  const options = optionsOf(value);
  const identity = { query, image_sha256: split.pictureSha256?.toString('hex'), ...options };
  return { inputs: [{ query, image, ...options }], asked: [identity], identity, warnings };
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
  if (!isAlone) throw ofQueries('send "queries" alone, or "query" and "image_b64"');
  const { queries = [], fused = false, ...common } = value;
  const all = [...warnings];
  const asked = queries.map((question, at) => {
    if (typeof question === 'string') return questionOf(question, common, at);
    if (typeof question !== 'object' || question === null || Array.isArray(question))
      throw ofQueries(`${at}: send a text, or an object with "query"`);
    refuseFilterLike(question as Record<string, unknown>, `queries/${at}: `);
    const own = validated(question, at);
    all.push(...own.warnings.map((warning) => `queries/${at}: ${warning}`));
    return questionOf(own.value.query, { ...common, ...own.value }, at);
  });
  const hits = asked.reduce((sum, { k }) => sum + k, 0);
  if (hits > K_MAX)
    throw ofQueries(`ask for at most ${K_MAX} hits in all, not ${hits}: give "k"`, { limit: K_MAX });
  const several = { fused, k: common.k ?? K_DEFAULT, maxChars: common.max_chars };
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
function refuseFilterLike(sent: Readonly<Record<string, unknown>>, at = ''): void {
  const known = Object.keys(SearchRequestSchema.properties);
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
