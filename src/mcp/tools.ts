import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import type {
  AcceptedIngest,
  AskedQuestion,
  DisposalAnswer,
  ItemDeletedAnswer,
  ItemsAnswer,
  ItemTextAnswer,
  SearchAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from '../client/index.ts';
import { FAMILIES, type Family } from '../domain/family.ts';
import { ITEM_KEY_MAX } from '../domain/labels/item-key.ts';
import { METADATA_FIELDS_MAX, type Metadata } from '../domain/labels/metadata.ts';
import {
  CHARS_MAX,
  CHARS_MIN,
  CONFIDENCE_FLOOR,
  FAMILIES_ASKED_MAX,
  K_MAX,
  K_MIN,
  PASSAGES_MAX,
  QUERIES_MAX,
  QUERY_LENGTH_MAX,
  UNANSWERED_REASONS,
} from '../domain/search.ts';
import type { Answered, ItemSource, Scope } from './backend.ts';
import { itemListResult, itemTextResult } from './item-results.ts';
import { ingestResult, recordResult, searchResult } from './results.ts';
import { toolFilter } from './tool-filter.ts';

/** `local`: paths can be read and tokens are kept here; `remote`: neither. */
export type Kind = 'local' | 'remote';

/** One tool: what a model reads of it, what it takes, and how its answer is shown. */
interface Definition<Arguments, Answer> {
  readonly title: string;
  readonly description: string | Readonly<Record<Kind, string>>;
  readonly takes: TProperties;
  /** Whether it works in a workspace; `named`: in the one that the call names, never by default. */
  readonly scope: 'none' | 'chosen' | 'named';
  /** Arguments without which it does nothing. */
  readonly needs?: readonly string[];
  /** JSON Schemas of those members of the answer that a model should know. */
  readonly gives: Readonly<Partial<Record<keyof Answer, object>>>;
  readonly hints: Tool['annotations'];
  result(
    source: ItemSource,
    answered: Answered<Answer>,
    args: Arguments,
  ): CallToolResult | Promise<CallToolResult>;
}

/** What only one kind takes or gives. */
const ONLY: Readonly<Record<string, Kind>> = {
  path: 'local',
  image_path: 'local',
  image_b64: 'remote',
  token: 'remote',
  capability_token: 'remote',
};

const ID_LENGTH_MAX = 128;
const TOKEN_LENGTH_MAX = 256;
const NAME_LENGTH_MAX = 1024;
const PATH_LENGTH_MAX = 4096;
/** They fill a model's context. */
const THUMBNAILS_MAX = 8;
/** Hits that are asked for by default: what is shown of them must fit into a model's context. */
export const TOOL_K_DEFAULT = 10;
const ITEMS_MAX = 100;
export const ITEMS_DEFAULT = 20;

const optionalText = (description: string, maxLength?: number) =>
  Type.Optional(Type.String({ description, ...(maxLength !== undefined && { maxLength }) }));
const shown = (type: string, description?: string) => ({ type, ...(description && { description }) });
const money = shown('string', 'US dollars, as a decimal.');

const searchArguments = Type.Object({
  query: optionalText('What to look for, in words.', QUERY_LENGTH_MAX),
  image_path: optionalText('Path of a picture to search with.', PATH_LENGTH_MAX),
  image_b64: optionalText('Base64 of a picture to search with.'),
  families: Type.Optional(
    Type.Array(Type.Unsafe<Family>({ enum: FAMILIES }), {
      maxItems: FAMILIES_ASKED_MAX,
      description: 'Default: all that apply.',
    }),
  ),
  k: Type.Optional(
    Type.Integer({
      minimum: K_MIN,
      maximum: K_MAX,
      description: `Hits at most; default ${TOOL_K_DEFAULT}, without those far less likely than the first.`,
    }),
  ),
  queries: Type.Optional(
    Type.Unsafe<readonly AskedQuestion[]>({
      type: 'array',
      items: { type: ['string', 'object'] },
      maxItems: QUERIES_MAX,
      description:
        'Several questions in one call, instead of query: texts, or {query, families, k, filter}. Paid once.',
    }),
  ),
  fused: Type.Optional(
    Type.Boolean({
      description: 'With queries: one list for all, such as several wordings of one question.',
    }),
  ),
  filter: Type.Optional(toolFilter),
  passages: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: PASSAGES_MAX,
      description: 'Show whole passages instead of snippets, with so many on each side.',
    }),
  ),
  max_chars: Type.Optional(
    Type.Integer({
      minimum: CHARS_MIN,
      maximum: CHARS_MAX,
      description: 'Characters of all passages together: the best first, whole sentences.',
    }),
  ),
  thumbnails: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: THUMBNAILS_MAX,
      description: 'Of how many hits pictures are shown, too (in a workspace); default 0: they are linked.',
    }),
  ),
  exact: Type.Optional(
    Type.Boolean({
      description:
        'Prove that each list has its best rows, in large indexes too. Says nothing about relevance.',
    }),
  ),
  min_confidence: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `Leave out hits of less confidence; default ${CONFIDENCE_FLOOR}.`,
    }),
  ),
});

/** The bytes of a file are text here, or come apart from their call. */
const bytes = (description: string) =>
  Type.Optional(Type.Unsafe<string | Uint8Array>(Type.String({ description })));

const ingestArguments = Type.Object({
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

const createArguments = Type.Object({
  ttl_minutes: Type.Optional(Type.Integer({ minimum: 1, description: 'Minutes; default 15.' })),
  spend_limit_usd: Type.Optional(
    Type.Number({ minimum: 0, description: 'Cap on its price with all extensions.' }),
  ),
});

const extendArguments = Type.Object({
  ttl_minutes: Type.Optional(Type.Integer({ minimum: 1, description: 'Minutes to add; default 15.' })),
});

const listArguments = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ITEMS_MAX,
      description: `Items at most; default ${ITEMS_DEFAULT}.`,
    }),
  ),
  after: optionalText('The former answer’s `next`.', ID_LENGTH_MAX),
});

const itemId = Type.String({
  description: 'Id of the item, as search and item_list show it.',
  maxLength: ID_LENGTH_MAX,
});

const readArguments = Type.Object({
  item: itemId,
  page: Type.Optional(Type.Integer({ minimum: 1, description: 'Begin at this page.' })),
  time_s: Type.Optional(
    Type.Number({ minimum: 0, description: 'Begin at this second of a film or recording.' }),
  ),
  from: Type.Optional(Type.Integer({ minimum: 0, description: 'Begin at the former answer’s `next`.' })),
});

const deleteArguments = Type.Object({ item: itemId });

const noArguments = Type.Object({});

/** `left_usd`: what is left of a local client's budget; null without one. */
type CreateAnswer = WorkspaceAnswer & { readonly left_usd?: string | null };

const ingestDescription = (sources: string) =>
  `Makes one file searchable (text, web pages, PDF, office documents, e-books, pictures, films, recordings)${sources} text, or bytes in base64 with a name. Returns when it is searchable. Paid by the call outside a workspace.`;

function define<Arguments extends TObject, Answer>(
  takes: Arguments,
  definition: Omit<Definition<Static<Arguments>, Answer>, 'takes'>,
): Definition<Static<Arguments>, Answer> {
  return { ...definition, takes: takes.properties };
}

/** The tools. A backend without a method for one of them does not compile. */
const DEFINED = {
  search: define<typeof searchArguments, SearchAnswer & { readonly left_out?: number }>(searchArguments, {
    title: 'Search files',
    description:
      'Finds passages, pages and pictures in the files that were ingested: by meaning, by exact words, by a picture, or pictures by describing them. Paid by the call outside a workspace.',
    scope: 'chosen',
    gives: {
      hits: { type: 'array', items: { type: 'object' }, description: 'Best first.' },
      answered: shown('boolean', 'False: the answer is probably not in these files.'),
      reason: { enum: UNANSWERED_REASONS, description: 'Why it is not answered.' },
      corrected: shown('string', 'The query with slips in its words corrected, as it was understood.'),
      latency_ms: shown('number'),
      exact: shown('boolean', 'Each list is proved to have its best rows.'),
      answers: {
        type: 'array',
        items: { type: 'object' },
        description: 'Of queries: the answer to each, in their order.',
      },
      truncated: shown('boolean', 'With max_chars: something had no room.'),
      left_out: shown('integer', 'Hits that were found and are far less likely than these.'),
      charged: shown('boolean'),
    },
    hints: { readOnlyHint: true, idempotentHint: true },
    result: searchResult,
  }),
  ingest: define<typeof ingestArguments, AcceptedIngest>(ingestArguments, {
    title: 'Add a file',
    description: { local: ingestDescription(': a path, or'), remote: ingestDescription(':') },
    scope: 'chosen',
    gives: {
      item: shown('object'),
      job_id: shown('string'),
      job: shown('object'),
      duplicate: shown('boolean'),
      charged: shown('boolean'),
    },
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    result: ingestResult,
  }),
  workspace_create: define<typeof createArguments, CreateAnswer>(createArguments, {
    title: 'Rent a workspace',
    description:
      'Rents a private workspace for some minutes; searches and files inside are included in its price. Paid.',
    scope: 'none',
    gives: {
      id: shown('string'),
      expires_at: shown('string'),
      ttl_minutes: shown('integer'),
      price_usd: money,
      capability_token: shown('string', 'Shown once: give it to the other tools as `token`.'),
    },
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    result: (_source, answered) => recordResult(answered),
  }),
  workspace_extend: define<typeof extendArguments, WorkspaceAnswer>(extendArguments, {
    title: 'Extend a workspace',
    description: 'Buys more minutes for a workspace. Paid.',
    scope: 'chosen',
    gives: {
      id: shown('string'),
      expires_at: shown('string'),
      ttl_seconds_left: shown('integer'),
      price_usd: money,
    },
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    result: (_source, answered) => recordResult(answered),
  }),
  workspace_usage: define<typeof noArguments, UsageAnswer>(noArguments, {
    title: 'Usage of a workspace',
    description: 'Time left, money spent, searches, files and bytes of a workspace. Free.',
    scope: 'chosen',
    gives: { id: shown('string'), ttl_seconds_left: shown('integer'), spend_usd: money },
    hints: { readOnlyHint: true, idempotentHint: true },
    result: (_source, answered) => recordResult(answered),
  }),
  workspace_dispose: define<typeof noArguments, DisposalAnswer>(noArguments, {
    title: 'Destroy a workspace',
    description:
      'Destroys the workspace that the call names, with all its files, for good; gives a signed receipt of it. Free.',
    scope: 'named',
    needs: ['workspace'],
    gives: { id: shown('string'), receipt: shown('string', 'Compact JWS.'), claims: shown('object') },
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    result: (_source, answered) => recordResult(answered),
  }),
  item_list: define<typeof listArguments, ItemsAnswer>(listArguments, {
    title: 'List the files',
    description: 'The files of a workspace in order of upload. Free.',
    scope: 'chosen',
    gives: {
      items: { type: 'array', items: { type: 'object' } },
      next: { type: ['string', 'null'], description: 'Send it as `after` for the items that follow.' },
    },
    hints: { readOnlyHint: true, idempotentHint: true },
    result: (_source, answered) => itemListResult(answered),
  }),
  item_read: define<typeof readArguments, ItemTextAnswer>(readArguments, {
    title: 'Read a file',
    description:
      'The text of a file of a workspace from a page, a second or the beginning on: about 8,000 characters. Free.',
    scope: 'chosen',
    needs: ['item'],
    gives: {
      id: shown('string'),
      passages: { type: 'array', items: { type: 'object' }, description: 'In the order of the file.' },
      next: { type: ['integer', 'null'], description: 'Send it as `from` for the text that follows.' },
    },
    hints: { readOnlyHint: true, idempotentHint: true },
    result: (_source, answered) => itemTextResult(answered),
  }),
  item_delete: define<typeof deleteArguments, ItemDeletedAnswer>(deleteArguments, {
    title: 'Remove a file',
    description: 'Removes one file from a workspace for good. Free.',
    scope: 'chosen',
    needs: ['item'],
    gives: { id: shown('string'), state: shown('string') },
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    result: (_source, answered) => recordResult(answered),
  }),
};

type Defined = typeof DEFINED;
export type ToolName = keyof Defined;

interface TypesOf<Arguments, Answer> {
  readonly given: Arguments;
  readonly answer: Answer;
}
type Types = {
  [Name in ToolName]: Defined[Name] extends Definition<infer Arguments, infer Answer>
    ? TypesOf<Arguments, Answer>
    : never;
};
type Given = { [Name in ToolName]: Types[Name]['given'] };
type Answers = { [Name in ToolName]: Types[Name]['answer'] };
export type ArgumentsOf<Name extends ToolName> = Given[Name];

export const TOOLS: { readonly [Name in ToolName]: Definition<Given[Name], Answers[Name]> } = DEFINED;
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

/** One method for each tool. */
export type ToolCalls = {
  readonly [Name in ToolName]: (args: Given[Name], scope: Scope) => Promise<Answered<Answers[Name]>>;
};

/** What the tools call: a client with its own wallet, or the server that they are mounted on. */
export type Backend = ItemSource & ToolCalls;

/** A tool as it is listed where it runs. */
export function listedTool(name: ToolName, kind: Kind): Tool {
  const { title, description, takes, scope, needs, gives, hints } = TOOLS[name];
  const properties = ofKind({ ...takes, ...(scope !== 'none' && scopeArguments(kind, scope)) }, kind);
  return {
    name,
    title,
    description: typeof description === 'string' ? description : description[kind],
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      maxProperties: Object.keys(properties).length,
      properties,
      ...(needs && { required: [...needs] }),
    },
    // Nothing is required: an unpaid call is answered with the payment's terms, and clients check those against the schema, too.
    outputSchema: { type: 'object', properties: ofKind(gives, kind) },
    annotations: { title, openWorldHint: false, ...hints },
  };
}

function scopeArguments(kind: Kind, scope: 'chosen' | 'named'): TProperties {
  const chosen = kind === 'local' ? 'created last in this session' : 'of the connection';
  const workspace =
    scope === 'named'
      ? 'Id of the workspace that is meant.'
      : `Workspace id; default: the one ${chosen}. "none": your own index, paid by the call, as without any.`;
  return {
    workspace: optionalText(workspace, ID_LENGTH_MAX),
    token: optionalText(
      'Capability token of the workspace; default: the bearer token of the connection.',
      TOKEN_LENGTH_MAX,
    ),
  };
}

/** Without what only the other kind takes or gives. A local token stays out of the model's sight. */
function ofKind(properties: Readonly<Record<string, object>>, kind: Kind): Record<string, object> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => (ONLY[name] ?? kind) === kind));
}
