import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { Ajv, type ErrorObject } from 'ajv';
import { nearest } from '../domain/nearest.ts';
import { brief } from './brief.ts';

const SHOWN_MAX = 64;

const ajv = new Ajv({ allErrors: false, verbose: true });

/** The part of a JSON Schema that says what is allowed. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/**
 * Reports the first fault only, with what is allowed. The SDK's own validator collects all: a message with thousands would block
 * the server for seconds and get an answer many times its size.
 */
export const firstFaultValidator: jsonSchemaValidator = {
  getValidator: <T>(schema: object) => {
    const check = ajv.compile<T>(schema);
    return (input) =>
      check(input)
        ? { valid: true, data: input, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: brief(describe(check.errors![0]!)) };
  },
};

/** `k: send a whole number from 1 to 1000, not "many".` */
function describe({ keyword, instancePath, parentSchema = {}, data, params }: ErrorObject): string {
  const schema = parentSchema as Schema;
  switch (keyword) {
    case 'additionalProperties':
    case 'maxProperties':
      return unknownArgument(data, schema);
    case 'required': {
      const { missingProperty: name } = params as { missingProperty: string };
      return `${name} is missing. ${schema.properties?.[name]?.description ?? ''}`.trim();
    }
    default:
      return `${instancePath.slice(1) || 'arguments'}: send ${allowed(schema)}, not ${shown(data)}.`;
  }
}

function unknownArgument(data: unknown, { properties = {} }: Schema): string {
  const name = Object.keys(data as object).find((key) => !Object.hasOwn(properties, key)) ?? '';
  const known = Object.keys(properties);
  const near = nearest(name, known);
  return [
    `There is no argument ${shown(name)}.`,
    ...(near === undefined ? [] : [`Did you mean ${near}?`]),
    known.length === 0 ? 'This tool takes none.' : `Allowed: ${known.join(', ')}.`,
  ].join(' ');
}

function allowed(schema: Schema): string {
  const { type, minimum, maximum, maxLength, maxItems, items } = schema;
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  switch (type) {
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'a whole number' : 'a number'}${range(minimum, maximum)}`;
    case 'string':
      return `a text${maxLength === undefined ? '' : ` of at most ${maxLength} characters`}`;
    case 'array':
      return `a list of at most ${maxItems} values${items?.enum ? ` of ${items.enum.join(', ')}` : ''}`;
    case 'boolean':
      return 'true or false';
    default:
      return `an ${type}`;
  }
}

function range(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return '';
  return maximum === undefined ? ` from ${minimum} on` : ` from ${minimum} to ${maximum}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(brief(value, SHOWN_MAX)) : String(value);
}
