import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import type {
  AcceptedIngest,
  DisposalAnswer,
  SearchAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from '../client/index.ts';
import { FAMILIES, type Family } from '../domain/family.ts';
import {
  CONFIDENCE_FLOOR,
  FAMILIES_ASKED_MAX,
  K_DEFAULT,
  K_MAX,
  K_MIN,
  QUERY_LENGTH_MAX,
  UNANSWERED_REASONS,
} from '../domain/search.ts';
import type { Answered, ItemSource, Scope } from './backend.ts';
import { ingestResult, recordResult, searchResult } from './results.ts';

/** `local`: paths can be read and tokens are kept here; `remote`: neither. */
export type Kind = 'local' | 'remote';

/** One tool: what a model reads of it, what it takes, and how its answer is shown. */
interface Definition<Arguments, Answer> {
  readonly title: string;
  readonly description: string | Readonly<Record<Kind, string>>;
  readonly takes: TProperties;
  /** Whether it works in a workspace; `named`: where no connection names one, the call must. */
  readonly scope: 'none' | 'chosen' | 'named';
  /** JSON Schemas of those members of the answer that a model should know. */
  readonly gives: Readonly<Partial<Record<keyof Answer, object>>>;
  readonly hints: Tool['annotations'];
  result(
    source: ItemSource,
    answered: Answered<Answer>,
    given: Arguments,
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

const given = (description: string, maxLength?: number) =>
  Type.Optional(Type.String({ description, ...(maxLength !== undefined && { maxLength }) }));
const shown = (type: string, description?: string) => ({ type, ...(description && { description }) });
const money = shown('string', 'US dollars, as a decimal.');

const searchArguments = Type.Object({
  query: given('What to look for, in words.', QUERY_LENGTH_MAX),
  image_path: given('Path of a picture to search with.', PATH_LENGTH_MAX),
  image_b64: given('Base64 of a picture to search with.'),
  families: Type.Optional(
    Type.Array(Type.Unsafe<Family>({ enum: FAMILIES }), {
      maxItems: FAMILIES_ASKED_MAX,
      description: 'Default: all that apply.',
    }),
  ),
  k: Type.Optional(
    Type.Integer({ minimum: K_MIN, maximum: K_MAX, description: `Hits at most; default ${K_DEFAULT}.` }),
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
  path: given('Path of the file.', PATH_LENGTH_MAX),
  text: bytes('The file’s text.'),
  content_b64: bytes('The file’s bytes, in base64.'),
  name: given('File name that hits show.', NAME_LENGTH_MAX),
});

const createArguments = Type.Object({
  ttl_minutes: Type.Optional(Type.Integer({ description: 'Minutes; default 15.' })),
  spend_limit_usd: Type.Optional(
    Type.Number({ minimum: 0, description: 'Cap on its price with all extensions.' }),
  ),
});

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
  search: define<typeof searchArguments, SearchAnswer>(searchArguments, {
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
      bounds: shown('object', 'The same for each family.'),
      charged: shown('boolean'),
    },
    hints: { readOnlyHint: true, idempotentHint: true },
    result: (source, answered, { thumbnails = 0 }) => searchResult(source, answered, thumbnails),
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
    description: 'Destroys a workspace and all its files for good, and gives a signed receipt of it. Free.',
    scope: 'named',
    gives: { id: shown('string'), receipt: shown('string', 'Compact JWS.'), claims: shown('object') },
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
  readonly [Name in ToolName]: (given: Given[Name], scope: Scope) => Promise<Answered<Answers[Name]>>;
};

/** What the tools call: a client with its own wallet, or the server that they are mounted on. */
export type Backend = ItemSource & ToolCalls;

/** A tool as it is listed where it runs. */
export function listedTool(name: ToolName, kind: Kind): Tool {
  const { title, description, takes, scope, gives, hints } = TOOLS[name];
  const properties = ofKind({ ...takes, ...(scope !== 'none' && scopeArguments(kind)) }, kind);
  return {
    name,
    title,
    description: typeof description === 'string' ? description : description[kind],
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      maxProperties: Object.keys(properties).length,
      properties,
      ...(scope === 'named' && kind === 'local' && { required: ['workspace'] }),
    },
    // Nothing is required: an unpaid call is answered with the payment's terms, and clients check those against the schema, too.
    outputSchema: { type: 'object', properties: ofKind(gives, kind) },
    annotations: { title, openWorldHint: false, ...hints },
  };
}

function scopeArguments(kind: Kind): TProperties {
  const chosen = kind === 'local' ? 'created or used last' : 'of the connection';
  const workspace = `Workspace id; default: the one ${chosen}, otherwise your own index, paid by the call.`;
  return {
    workspace: given(workspace, ID_LENGTH_MAX),
    token: given(
      'Capability token of the workspace; default: the bearer token of the connection.',
      TOKEN_LENGTH_MAX,
    ),
  };
}

/** Without what only the other kind takes or gives. A local token stays out of the model's sight. */
function ofKind(properties: Readonly<Record<string, object>>, kind: Kind): Record<string, object> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => (ONLY[name] ?? kind) === kind));
}
