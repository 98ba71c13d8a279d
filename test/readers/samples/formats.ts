import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { READABLE_TYPES } from '../../../src/readers/formats.ts';

/** A file of each format, called as its media type is; a recording's is only its signature. */
export const FORMAT_SAMPLES: Readonly<Record<string, Buffer>> = Object.fromEntries(
  READABLE_TYPES.map((type) => [type, readFileSync(join(import.meta.dirname, 'formats', type))]),
);
