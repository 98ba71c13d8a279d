import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { Ajv, type ErrorObject } from 'ajv';
import { brief } from './brief.ts';

const NAME_LENGTH_MAX = 64;

const ajv = new Ajv({ allErrors: false });

/**
 * Looks for the first fault and tells that one. The SDK's own validator collects all of them: a message of thousands would
 * hold the server for seconds, and be answered with many times its size.
 */
export const firstFaultValidator: jsonSchemaValidator = {
  getValidator: <T>(schema: object) => {
    const check = ajv.compile<T>(schema);
    return (input) =>
      check(input)
        ? { valid: true, data: input, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: describe(check.errors![0]!) };
  },
};

/** `families/0: must be equal to one of the allowed values (raw, visual).` */
function describe({ instancePath, message = 'is not allowed', params }: ErrorObject): string {
  const { additionalProperty: name, allowedValues: allowed } = params as Record<string, unknown>;
  const told = [
    typeof name === 'string' ? `: ${JSON.stringify(brief(name, NAME_LENGTH_MAX))}` : '',
    Array.isArray(allowed) ? ` (${allowed.join(', ')})` : '',
  ];
  return brief(`${instancePath.slice(1) || 'arguments'}: ${message}${told.join('')}.`);
}
