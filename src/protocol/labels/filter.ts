import { brief } from '../brief.ts';
import { FarthingError } from '../error.ts';
import { canIdentify } from '../file/file-name.ts';
import { nearest } from '../nearest.ts';
import { isFieldName, isScalar, METADATA_NAME_MAX, METADATA_TEXT_MAX, type Scalar } from './metadata.ts';

/** Conditions on one metadata field; all must hold. */
export interface Condition {
  readonly eq?: Scalar;
  readonly in?: readonly Scalar[];
  readonly gt?: Scalar;
  readonly gte?: Scalar;
  readonly lt?: Scalar;
  readonly lte?: Scalar;
  readonly exists?: boolean;
}

/** Restricts the Items that a search may find: all conditions must hold. */
export interface Filter {
  /** Ids. That of an archive or a mail includes the files inside. */
  readonly items?: readonly string[];
  /** `*` matches any characters. */
  readonly media_type?: string | readonly string[];
  /** Pattern of the file's name, or of its path in an archive: `*` and `?`. Case does not matter. */
  readonly name?: string | readonly string[];
  /** The same of the key that the uploader gave. */
  readonly key?: string | readonly string[];
  /** RFC 3339: accepted then or later; accepted before. */
  readonly created_after?: string;
  readonly created_before?: string;
  /** A value matches itself, a list any of its values. */
  readonly metadata?: Readonly<Record<string, Scalar | readonly Scalar[] | Condition>>;
  readonly and?: readonly Filter[];
  readonly or?: readonly Filter[];
  readonly not?: Filter;
}

/** Levels of `and`, `or` and `not`. */
export const FILTER_DEPTH_MAX = 8;
/** Conditions of a whole filter. */
export const FILTER_CONDITIONS_MAX = 100;
/** Values of all its lists together. */
export const FILTER_VALUES_MAX = 1000;
const TEXT_MAX = METADATA_TEXT_MAX;

const MEMBERS = [
  'items',
  'media_type',
  'name',
  'key',
  'created_after',
  'created_before',
  'metadata',
  'and',
  'or',
  'not',
] as const satisfies readonly (keyof Filter)[];
const COMBINED = ['and', 'or', 'not'] as const satisfies readonly (keyof Filter)[];
const TESTS = [
  'eq',
  'in',
  'gt',
  'gte',
  'lt',
  'lte',
  'exists',
] as const satisfies readonly (keyof Condition)[];
const ENDS = ['gt', 'gte', 'lt', 'lte'] as const satisfies readonly (keyof Condition)[];
const DATE = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

type Json = Readonly<Record<string, unknown>>;

/**
 * A filter as the index takes it, as JSON: the same conditions always give the same text. Undefined for one without conditions.
 * @throws field_invalid that names the field: a condition that cannot be understood is never left out
 */
export function readFilter(value: unknown): string | undefined {
  const read = new Reader().filter(value, 'filter', 1);
  return Object.keys(read).length === 0 ? undefined : JSON.stringify(read);
}

/** Reads one filter, and counts what is in it. */
class Reader {
  #conditions = 0;
  #values = 0;

  filter(value: unknown, at: string, depth: number): Json {
    if (depth > FILTER_DEPTH_MAX)
      throw invalid(at, `nest at most ${FILTER_DEPTH_MAX} levels of and, or and not`);
    const given = members(value, MEMBERS, at);
    // Left out, it would no longer restrict what is found.
    for (const name of COMBINED)
      if ((value as Json)[name] === null) throw invalid(`${at}.${name}`, 'send what it is to hold, not null');
    const inner = (name: 'and' | 'or') =>
      name in given
        ? {
            [name]: this.#list(given[name], `${at}.${name}`).map((each) =>
              this.filter(each, `${at}.${name}`, depth + 1),
            ),
          }
        : {};
    return {
      ...this.#texts(given, 'items', at),
      ...this.#texts(given, 'media_type', at),
      ...this.#texts(given, 'name', at),
      ...this.#texts(given, 'key', at),
      ...this.#time(given, 'created_after', at),
      ...this.#time(given, 'created_before', at),
      ...('metadata' in given && this.#metadata(given.metadata, `${at}.metadata`)),
      ...inner('and'),
      ...inner('or'),
      ...('not' in given && { not: this.filter(given.not, `${at}.not`, depth + 1) }),
    };
  }

  #texts(given: Json, name: string, within: string): Json {
    if (!(name in given)) return {};
    const at = `${within}.${name}`;
    const texts =
      name === 'items' || Array.isArray(given[name]) ? this.#list(given[name], at) : [given[name]];
    this.#count(at);
    for (const text of texts)
      if (typeof text !== 'string' || text.length > TEXT_MAX)
        throw invalid(at, `send texts of at most ${TEXT_MAX} characters`);
    if (!texts.every((text) => canIdentify(text as string)))
      throw invalid(
        at,
        'send texts without control characters and such as nobody sees: no name and no key has any',
      );
    return { [name]: texts };
  }

  #time(given: Json, name: string, within: string): Json {
    if (!(name in given)) return {};
    const [at, text] = [`${within}.${name}`, given[name]];
    this.#count(at);
    if (!isTime(text)) throw invalid(at, 'send a time such as 2026-11-26T09:00:00Z, or a date');
    return { [name]: new Date(text).toISOString() };
  }

  #metadata(value: unknown, at: string): Json {
    if (!isObject(value)) throw invalid(at, 'send an object, such as {"year": {"gte": 2024}}');
    const conditions = Object.entries(value).map(([field, condition]) => {
      if (!isFieldName(field))
        throw invalid(at, `a field has a name of 1 to ${METADATA_NAME_MAX} characters that can be seen`);
      return [field, this.#condition(condition, `${at}.${field}`)] as const;
    });
    return conditions.length === 0 ? {} : { metadata: Object.fromEntries(conditions) };
  }

  #condition(value: unknown, at: string): Json {
    this.#count(at);
    if (isScalar(value)) return { in: [value] };
    if (Array.isArray(value)) return { in: this.#scalars(value, at) };
    const given = members(value, TESTS, at);
    if (Object.keys(given).length === 0) throw invalid(at, `send a value, or one of ${TESTS.join(', ')}`);
    if ('eq' in given && 'in' in given) throw invalid(at, 'send eq or in, not both');
    if ('exists' in given && typeof given.exists !== 'boolean')
      throw invalid(`${at}.exists`, 'send true or false');
    const one = 'eq' in given ? this.#scalars([given.eq], `${at}.eq`) : undefined;
    const any = 'in' in given ? this.#scalars(this.#list(given.in, `${at}.in`), `${at}.in`) : one;
    const ends = ENDS.filter((name) => name in given);
    const values = this.#scalars(
      ends.map((name) => given[name]),
      `${at}.${ends[0]}`,
    );
    if (new Set(values.map((each) => typeof each)).size > 1)
      throw invalid(at, 'the ends of a range are two numbers, or two texts');
    return {
      ...(any && { in: any }),
      ...Object.fromEntries(ends.map((name, index) => [name, values[index]])),
      ...('exists' in given && { exists: given.exists }),
    };
  }

  #scalars(values: readonly unknown[], at: string): readonly Scalar[] {
    this.#values += values.length;
    if (this.#values > FILTER_VALUES_MAX) throw tooMany(at, FILTER_VALUES_MAX, 'values');
    if (!values.every(isScalar))
      throw invalid(at, `send strings of at most ${TEXT_MAX} characters, numbers, or true or false`);
    return values;
  }

  #list(value: unknown, at: string): readonly unknown[] {
    if (!Array.isArray(value)) throw invalid(at, 'send a list');
    this.#values += value.length;
    if (this.#values > FILTER_VALUES_MAX) throw tooMany(at, FILTER_VALUES_MAX, 'values');
    return value;
  }

  #count(at: string): void {
    this.#conditions += 1;
    if (this.#conditions > FILTER_CONDITIONS_MAX) throw tooMany(at, FILTER_CONDITIONS_MAX, 'conditions');
  }
}

/** Whether it is a time in RFC 3339, or a date. */
export function isTime(value: unknown): value is string {
  return typeof value === 'string' && DATE.test(value) && !Number.isNaN(Date.parse(value));
}

/** The members of an object without nulls. @throws field_invalid for one that is not known */
function members(value: unknown, known: readonly string[], at: string): Json {
  if (!isObject(value)) throw invalid(at, `send an object of ${known.join(', ')}`);
  const given = Object.entries(value).filter(([, each]) => each !== null);
  for (const [name] of given) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const meant = near === undefined ? `It takes ${known.join(', ')}` : `Did you mean ${near}`;
    throw invalid(
      at,
      `there is no "${brief(name, METADATA_NAME_MAX)}". ${meant}${near === undefined ? '' : '?'}`,
      near === undefined ? '.' : '',
    );
  }
  return Object.fromEntries(given);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tooMany(at: string, limit: number, what: string): FarthingError {
  return new FarthingError('field_invalid', `${at}: a filter has at most ${limit} ${what}.`, {
    facts: { field: 'filter', limit },
  });
}

function invalid(at: string, what: string, end = '.'): FarthingError {
  return new FarthingError('field_invalid', `${at}: ${what}${end}`, { facts: { field: 'filter' } });
}
