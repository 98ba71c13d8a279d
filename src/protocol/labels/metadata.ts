import { brief } from '../brief.ts';
import { FarthingError } from '../error.ts';
import { canIdentify } from '../file/file-name.ts';

/** A value of an Item's metadata. */
export type Scalar = string | number | boolean;
/** An uploader's metadata of a file: flat, for filters. */
export type Metadata = Readonly<Record<string, Scalar>>;

export const METADATA_FIELDS_MAX = 32;
/** Characters. */
export const METADATA_NAME_MAX = 64;
export const METADATA_TEXT_MAX = 512;
/** Characters of all of it as JSON. */
export const METADATA_JSON_MAX = 4096;

/** Reads metadata that came as JSON; undefined where there is none. @throws field_invalid */
export function readMetadata(json: string): Metadata | undefined {
  if (json.trim() === '') return undefined;
  if (json.length > METADATA_JSON_MAX)
    throw invalid(`send at most ${METADATA_JSON_MAX} characters of JSON`, { limit: METADATA_JSON_MAX });
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalid('send a JSON object, such as {"year": 2024, "draft": false}');
  }
  return checkMetadata(value);
}

/** @throws field_invalid for what is no flat object of strings, numbers and booleans within the bounds */
function checkMetadata(value: unknown): Metadata | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('send a JSON object, such as {"year": 2024, "draft": false}');
  const fields = Object.entries(value).filter(([, each]) => each !== null);
  if (fields.length > METADATA_FIELDS_MAX)
    throw invalid(`send at most ${METADATA_FIELDS_MAX} fields`, { limit: METADATA_FIELDS_MAX });
  for (const [name, each] of fields) {
    const shown = JSON.stringify(brief(name, METADATA_NAME_MAX));
    if (!isFieldName(name))
      throw invalid(`${shown} is no name of 1 to ${METADATA_NAME_MAX} characters that can be seen`);
    if (!isScalar(each))
      throw invalid(
        `${shown} is to be a string of at most ${METADATA_TEXT_MAX} characters, a number, or true or false`,
      );
    if (typeof each === 'string' && !each.isWellFormed())
      throw invalid(`${shown} has half of a surrogate pair: send whole characters`);
  }
  if (fields.length === 0) return undefined;
  return Object.fromEntries(fields.toSorted(([one], [other]) => (one < other ? -1 : 1))) as Metadata;
}

/** Whether a text may be the name of a field of metadata. */
export function isFieldName(name: string): boolean {
  return name.length >= 1 && name.length <= METADATA_NAME_MAX && canIdentify(name);
}

/** Whether a value may be one of the metadata. */
export function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value.length <= METADATA_TEXT_MAX;
  return typeof value === 'boolean' || Number.isFinite(value);
}

function invalid(what: string, facts: object = {}): FarthingError {
  return new FarthingError('field_invalid', `metadata: ${what}.`, { facts: { field: 'metadata', ...facts } });
}

/** Parses a typed value: numbers and booleans where it reads as one, text otherwise. */
export function scalarOf(text: string): Scalar {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? Number(text) : text;
}
