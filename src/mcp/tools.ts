import type {
  AcceptedIngest,
  DisposalAnswer,
  GrepAnswer,
  ItemDeletedAnswer,
  ItemsAnswer,
  ItemTextAnswer,
  ReserveEndedAnswer,
  SearchAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from '@farthing/client';
import { UNANSWERED_REASONS } from '@farthing/protocol/search';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import type { Answered, ItemSource, Scope } from './backend.ts';
import { grepResult, itemListResult, itemTextResult } from './item-results.ts';
import { ingestResult, searchResult } from './results.ts';
import {
  createArguments,
  deleteArguments,
  extendArguments,
  grepArguments,
  ID_LENGTH_MAX,
  ingestArguments,
  listArguments,
  money,
  noArguments,
  optionalText,
  readArguments,
  searchArguments,
  shown,
  TOKEN_LENGTH_MAX,
} from './tool-arguments.ts';
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
  /** Default: its fields, one per line. */
  result?(
    source: ItemSource,
    answered: Answered<Answer>,
    args: Arguments,
  ): CallToolResult | Promise<CallToolResult>;
}

/** Arguments and results of only one kind. */
const ONLY: Readonly<Record<string, Kind>> = {
  path: 'local',
  image_path: 'local',
  image_b64: 'remote',
  token: 'remote',
  capability_token: 'remote',
};

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
      relaxed: {
        type: 'array',
        items: { type: 'string' },
        description: 'Quoted phrases that stand nowhere: their words were looked for.',
      },
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
  grep: define<typeof grepArguments, GrepAnswer>(grepArguments, {
    title: 'Find lines',
    description:
      'Lines in the files of a workspace that match a regular expression: for names, numbers and code known by their letters. Free.',
    scope: 'chosen',
    needs: ['pattern'],
    gives: {
      lines: { type: 'array', items: { type: 'object' }, description: 'In order of upload.' },
      truncated: shown('boolean', 'There may be more lines.'),
      next: { type: ['string', 'null'], description: '`after` of the next call.' },
      latency_ms: shown('number'),
    },
    hints: { readOnlyHint: true, idempotentHint: true },
    result: (_source, answered) => grepResult(answered),
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
  }),
  workspace_extend: define<typeof extendArguments, WorkspaceAnswer>(extendArguments, {
    title: 'Extend a workspace',
    description:
      'Buys more minutes for a workspace, at once or in reserve: what is in reserve and not used is given back. Paid.',
    scope: 'chosen',
    gives: {
      id: shown('string'),
      expires_at: shown('string'),
      ttl_seconds_left: shown('integer'),
      price_usd: money,
    },
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  }),
  workspace_end_reserve: define<typeof noArguments, ReserveEndedAnswer>(noArguments, {
    title: 'End the reserve of a workspace',
    description:
      'Gives back the minutes in reserve that are not used; the workspace ends with the others. Free.',
    scope: 'chosen',
    gives: {
      id: shown('string'),
      expires_at: shown('string'),
      returned_minutes: shown('integer'),
      returned_usd: money,
    },
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  }),
  workspace_usage: define<typeof noArguments, UsageAnswer>(noArguments, {
    title: 'Usage of a workspace',
    description: 'Time left, money spent, searches, files and bytes of a workspace. Free.',
    scope: 'chosen',
    gives: {
      id: shown('string'),
      ttl_seconds_left: { type: ['integer', 'null'], description: 'Null: it has no end.' },
      spend_usd: money,
    },
    hints: { readOnlyHint: true, idempotentHint: true },
  }),
  workspace_dispose: define<typeof noArguments, DisposalAnswer>(noArguments, {
    title: 'Destroy a workspace',
    description:
      'Destroys the workspace that the call names, with all its files, for good; gives a signed receipt of it. Free.',
    scope: 'named',
    needs: ['workspace'],
    gives: { id: shown('string'), receipt: shown('string', 'Compact JWS.'), claims: shown('object') },
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
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

/** Backend of the tools: a client with its own wallet, or the server that they are mounted on. */
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
