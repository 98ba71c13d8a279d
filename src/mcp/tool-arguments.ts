import type { AskedQuestion } from '@farthing/client';
import { FAMILIES, type Family } from '@farthing/protocol/family';
import { ITEM_KEY_MAX } from '@farthing/protocol/labels/item-key';
import type { Like } from '@farthing/protocol/labels/like';
import { METADATA_FIELDS_MAX, type Metadata } from '@farthing/protocol/labels/metadata';
import { GrepRequestSchema } from '@farthing/protocol/schema/grep';
import { SearchRequestSchema } from '@farthing/protocol/schema/requests';
import { CONFIDENCE_FLOOR, FAMILIES_ASKED_MAX, QUERIES_MAX } from '@farthing/protocol/search';
import { type TSchema, Type } from '@sinclair/typebox';
import { toolFilter, toolOrder } from './tool-filter.ts';

export const ID_LENGTH_MAX = 128;
export const TOKEN_LENGTH_MAX = 256;
const NAME_LENGTH_MAX = 1024;
const PATH_LENGTH_MAX = 4096;
/** They fill a model's context. */
const THUMBNAILS_MAX = 8;
/** Default number of hits: they must fit into a model's context. */
export const TOOL_K_DEFAULT = 10;
/** The same of lines. */
export const TOOL_LINES_DEFAULT = 50;
const ITEMS_MAX = 100;
export const ITEMS_DEFAULT = 20;

export const optionalText = (description: string, maxLength?: number) =>
  Type.Optional(Type.String({ description, ...(maxLength !== undefined && { maxLength }) }));
export const shown = (type: string, description?: string) => ({ type, ...(description && { description }) });
export const money = shown('string', 'US dollars, as a decimal.');

/** A field of a request as a tool takes it: what a model reads of it is short. */
const said = <S extends TSchema>(schema: S, description: string): S => ({ ...schema, description });
const { query, k, fused, passages, max_chars, exact, min_confidence } = SearchRequestSchema.properties;

export const searchArguments = Type.Object({
  query: said(query, 'What to look for, in words.'),
  image_path: optionalText('Path of a picture to search with.', PATH_LENGTH_MAX),
  image_b64: optionalText('Base64 of a picture to search with.'),
  families: Type.Optional(
    Type.Array(Type.Unsafe<Family>({ enum: FAMILIES }), {
      maxItems: FAMILIES_ASKED_MAX,
      description: 'Default: all that apply.',
    }),
  ),
  k: said(k, `Hits at most; default ${TOOL_K_DEFAULT}, without those far less likely than the first.`),
  queries: Type.Optional(
    Type.Unsafe<readonly AskedQuestion[]>({
      type: 'array',
      items: { type: ['string', 'object'] },
      maxItems: QUERIES_MAX,
      description:
        'Several questions in one call, instead of query: texts, or {query | like, families, k, filter}. Paid once.',
    }),
  ),
  fused: said(fused, 'With queries: one list for all, such as several wordings of one question.'),
  filter: Type.Optional(toolFilter),
  order: Type.Optional(toolOrder),
  like: Type.Optional(
    Type.Unsafe<Like>({
      type: ['string', 'object'],
      description:
        'Instead of query: find what is like this item (its id), or {item, page | time_s}: like that place of it.',
    }),
  ),
  passages: said(passages, 'Show whole passages instead of snippets, with so many on each side.'),
  max_chars: said(max_chars, 'Characters of all passages together: the best first, whole sentences.'),
  thumbnails: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: THUMBNAILS_MAX,
      description: 'Of how many hits pictures are shown, too (in a workspace); default 0: they are linked.',
    }),
  ),
  exact: said(
    exact,
    'Prove that each list has its best rows, in large indexes too. Says nothing about relevance.',
  ),
  min_confidence: said(
    min_confidence,
    `Leave out hits of less confidence; default ${CONFIDENCE_FLOOR}, with a picture also those that look alike.`,
  ),
});

const { pattern, ignore_case, max_lines, context, after } = GrepRequestSchema.properties;

export const grepArguments = Type.Object({
  pattern: said(pattern, 'Regular expression in Rust’s syntax; a match stands in one line.'),
  ignore_case: said(ignore_case, 'Upper and lower case alike; default no.'),
  filter: Type.Optional(toolFilter),
  max_lines: said(max_lines, `Lines at most; default ${TOOL_LINES_DEFAULT}.`),
  context: said(context, 'Lines to show before and behind each.'),
  after: said(after, 'The `next` of the answer before.'),
});

/** The bytes of a file are text here, or come apart from their call. */
const bytes = (description: string) =>
  Type.Optional(Type.Unsafe<string | Uint8Array>(Type.String({ description })));

export const ingestArguments = Type.Object({
  path: optionalText('Path of the file.', PATH_LENGTH_MAX),
  text: bytes('The file’s text.'),
  content_b64: bytes('The file’s bytes, in base64.'),
  name: optionalText('File name that hits show.', NAME_LENGTH_MAX),
  key: optionalText(
    'Your own name for the file: one with the same key is replaced, the same bytes change nothing.',
    ITEM_KEY_MAX,
  ),
  metadata: Type.Optional(
    Type.Unsafe<Metadata>({
      type: 'object',
      description: 'What `filter` of a search may ask for: strings, numbers, true or false by name.',
      maxProperties: METADATA_FIELDS_MAX,
      additionalProperties: { type: ['string', 'number', 'boolean'] },
    }),
  ),
});

export const createArguments = Type.Object({
  ttl_minutes: Type.Optional(Type.Integer({ minimum: 1, description: 'Minutes; default 15.' })),
  spend_limit_usd: Type.Optional(
    Type.Number({ minimum: 0, description: 'Cap on its price with all extensions.' }),
  ),
  language: optionalText(
    'ISO 639 code of the texts: en, de; mul for several. Default: by the first text.',
    3,
  ),
});

export const extendArguments = Type.Object({
  ttl_minutes: Type.Optional(Type.Integer({ minimum: 1, description: 'Minutes to add; default 15.' })),
  reserve: Type.Optional(
    Type.Boolean({
      description:
        'Use them when the others have run out, and give back what is not used. Paid in prepaid money alone.',
    }),
  ),
});

export const listArguments = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ITEMS_MAX,
      description: `Items at most; default ${ITEMS_DEFAULT}.`,
    }),
  ),
  after: optionalText('The former answer’s `next`.', ID_LENGTH_MAX),
});

export const itemId = Type.String({
  description: 'Id of the item, as search and item_list show it.',
  maxLength: ID_LENGTH_MAX,
});

export const readArguments = Type.Object({
  item: itemId,
  page: Type.Optional(Type.Integer({ minimum: 1, description: 'Begin at this page.' })),
  time_s: Type.Optional(
    Type.Number({ minimum: 0, description: 'Begin at this second of a film or recording.' }),
  ),
  from: Type.Optional(Type.Integer({ minimum: 0, description: 'Begin at the former answer’s `next`.' })),
});

export const deleteArguments = Type.Object({ item: itemId });

export const noArguments = Type.Object({});
