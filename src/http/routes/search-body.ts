import { Type } from '@sinclair/typebox';
import { FilterSchema } from '../../api/filter.ts';
import { SearchRequestSchema } from '../../api/requests.ts';
import { FarthingError } from '../../domain/error.ts';
import { FAMILIES, type Family } from '../../domain/family.ts';
import { readFilter } from '../../domain/labels/filter.ts';
import { K_DEFAULT, type SearchInput } from '../../domain/search.ts';
import { shown } from '../../domain/wording/allowed.ts';
import { BODY_LIMITS, bodyTooLarge, splitBody } from '../body/split-body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { parseJsonObject, Validator } from '../exchange/json.ts';

/** Filters are read by `readFilter`, whose errors say more. */
const ANY_FILTER = Type.Unknown({ $id: FilterSchema.$id! });
const validator = new Validator(
  SearchRequestSchema,
  (field, error) =>
    field === 'families' && error.path.split('/').length > 2 ? 'family_unknown' : 'field_invalid',
  [ANY_FILTER],
);

/** A validated search, and its body's part in the request's identity. */
export interface ParsedSearch {
  readonly input: SearchInput;
  readonly identity: {
    readonly query?: string;
    readonly image_sha256?: string;
    readonly families?: readonly Family[];
    readonly k: number;
    /** In the one form that `readFilter` gives it. */
    readonly filter?: string;
    /** Absent unless requested, like `exact`. */
    readonly explain?: true;
    readonly exact?: true;
    /** Absent when it is 0. */
    readonly min_confidence?: number;
  };
  readonly warnings: readonly string[];
}

/** Reads and validates a SearchRequest. @throws a 400 that names the field. */
export async function readSearch(exchange: Exchange, bodyBytesMax: number): Promise<ParsedSearch> {
  const body = await exchange.body.whole(bodyBytesMax);
  const split = await splitBody(body, false);
  // What is no JSON object is parsed once more, for its error.
  if (split.json === undefined && body.byteLength > BODY_LIMITS.bytes) throw bodyTooLarge();
  const sent = parseJsonObject(split.json ?? body.toString('utf8'));
  // An empty string stands in its place.
  if (split.picture || split.isUnreadable) delete sent.image_b64;
  const { value, warnings } = validator.validate(sent);
  if (split.isUnreadable) {
    throw new FarthingError('image_unreadable', 'image_b64: send a picture file in standard base64.', {
      facts: { field: 'image_b64' },
    });
  }
  const query = value.query?.trim() ? value.query : undefined;
  const image = split.picture;
  if (query === undefined && image === undefined) {
    const what = `Send "query" (words), "image_b64" (a picture), or both.${meant(sent)}`;
    throw new FarthingError('search_empty', what, { facts: { field: 'query' } });
  }
  const families = canonicalFamilies(value.families);
  const k = value.k ?? K_DEFAULT;
  const imageSha256 = split.pictureSha256?.toString('hex');
  const filter = value.filter === undefined ? undefined : readFilter(value.filter);
  const options = {
    ...(filter !== undefined && { filter }),
    ...(value.explain === true && ({ explain: true } as const)),
    ...(value.exact === true && ({ exact: true } as const)),
    ...(value.min_confidence && { min_confidence: value.min_confidence }),
  };
  return {
    input: { query, image, families, k, ...options },
    identity: { query, image_sha256: imageSha256, families, k, ...options },
    warnings,
  };
}

/** What an unknown field with a text was probably to be. */
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
