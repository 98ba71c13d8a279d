import { type AllowedValues, refusedValue, shown } from '@farthing/protocol/allowed';
import { brief } from '@farthing/protocol/brief';
import { nearest } from '@farthing/protocol/nearest';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { Ajv, type ErrorObject } from 'ajv';

const ajv = new Ajv({ allErrors: false, verbose: true, allowUnionTypes: true });

/** The part of a JSON Schema that says what is allowed. */
interface Schema extends AllowedValues {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
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
      if (schema.properties) return unknownArgument(data, schema);
      break;
    case 'required': {
      const { missingProperty: name } = params as { missingProperty: string };
      return `${name} is missing. ${schema.properties?.[name]?.description ?? ''}`.trim();
    }
  }
  return `${instancePath.slice(1) || 'arguments'}: ${refusedValue(schema, data)}.`;
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
