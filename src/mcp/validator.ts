import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { Ajv, type ErrorObject } from 'ajv';
import { brief } from './brief.ts';

const NAME_LENGTH_MAX = 64;

const ajv = new Ajv({ allErrors: false });

/**
 * Reports the first fault only. The SDK's own validator collects all: a message with thousands would block the server for
 * seconds and get an answer many times its size.
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
  const details = [
    typeof name === 'string' ? `: ${JSON.stringify(brief(name, NAME_LENGTH_MAX))}` : '',
    Array.isArray(allowed) ? ` (${allowed.join(', ')})` : '',
  ];
  return brief(`${instancePath.slice(1) || 'arguments'}: ${message}${details.join('')}.`);
}
