import { brief } from './brief.ts';

const SHOWN_MAX = 64;

/** The part of a JSON Schema that says what a value may be. */
export interface AllowedValues {
  readonly type?: unknown;
  readonly items?: AllowedValues;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

/** Why a value was refused, in plain words: `send a whole number from 1 to 1000, not "many"`. */
export function refusedValue(schema: AllowedValues, value: unknown): string {
  return `send ${allowed(schema)}, not ${shown(value)}`;
}

/** `"name"` as in errors, shortened; other values than texts and numbers are described. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(brief(value, SHOWN_MAX)) : String(value);
}

function allowed(schema: AllowedValues): string {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, items } = schema;
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  switch (type) {
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'a whole number' : 'a number'}${range(minimum, maximum)}`;
    case 'string':
      if (maxLength !== undefined) return `a text of at most ${maxLength} characters`;
      return minLength === undefined ? 'a text' : `a text of at least ${counted(minLength, 'character')}`;
    case 'array':
      return `a list${counts(minItems, maxItems)}${items?.enum ? ` of ${items.enum.join(', ')}` : ''}`;
    case 'boolean':
      return 'true or false';
    default:
      return `an ${String(type)}${maxProperties === undefined ? '' : ` of at most ${maxProperties} members`}`;
  }
}

function counts(minItems: number | undefined, maxItems: number | undefined): string {
  if (maxItems === undefined) return '';
  return minItems === undefined
    ? ` of at most ${counted(maxItems, 'value')}`
    : ` of ${minItems} to ${maxItems} values`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function range(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return '';
  return maximum === undefined ? ` from ${minimum} on` : ` from ${minimum} to ${maximum}`;
}
