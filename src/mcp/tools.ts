import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { FAMILIES } from '../domain/family.ts';
import {
  CONFIDENCE_FLOOR,
  FAMILIES_ASKED_MAX,
  K_DEFAULT,
  K_MAX,
  K_MIN,
  QUERY_LENGTH_MAX,
  UNANSWERED_REASONS,
} from '../domain/search.ts';
import type { Backend } from './backend.ts';

export type ToolName = 'search' | 'ingest' | 'workspace_create' | 'workspace_usage' | 'workspace_dispose';
export type NamedTool = Tool & { readonly name: ToolName };

type Properties = Record<string, object>;

const ID_LENGTH_MAX = 128;
const TOKEN_LENGTH_MAX = 256;
const NAME_LENGTH_MAX = 1024;
const PATH_LENGTH_MAX = 4096;

const text = (description: string) => ({ type: 'string', description });
const shortText = (maxLength: number, description: string) => ({ ...text(description), maxLength });

/**
 * Nothing is required of an output: a call that has to be paid for first is answered with the payment's terms in its
 * place, and clients check that against the schema, too.
 */
function tool(
  name: ToolName,
  title: string,
  description: string,
  input: { properties: Properties; required?: string[] },
  output: Properties,
  annotations: Tool['annotations'],
): NamedTool {
  return {
    name,
    title,
    description,
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      maxProperties: Object.keys(input.properties).length,
      ...input,
    },
    outputSchema: { type: 'object', properties: output },
    annotations: { title, openWorldHint: false, ...annotations },
  };
}

/** They fill a model's context. */
const THUMBNAILS_MAX = 8;

const money = text('US dollars, as a decimal.');

/** The tools, as they are where they run. */
export function toolsFor({ kind }: Pick<Backend, 'kind'>): NamedTool[] {
  const local = kind === 'local';
  const workspace = shortText(
    ID_LENGTH_MAX,
    local
      ? 'Workspace id; default: the one created or used last, otherwise your own index, paid by the call.'
      : 'Workspace id; default: the one of the connection, otherwise your own index, paid by the call.',
  );
  const scope: Properties = local
    ? { workspace }
    : {
        workspace,
        token: shortText(
          TOKEN_LENGTH_MAX,
          'Capability token of the workspace; default: the bearer token of the connection.',
        ),
      };
  const picture: Properties = local
    ? { image_path: shortText(PATH_LENGTH_MAX, 'Path of a picture to search with.') }
    : { image_b64: text('Base64 of a picture to search with.') };
  const file: Properties = local ? { path: shortText(PATH_LENGTH_MAX, 'Path of the file.') } : {};
  return [
    tool(
      'search',
      'Search files',
      'Finds passages, pages and pictures in the files that were ingested: by meaning, by exact words, by a picture, or pictures by describing them. Paid by the call outside a workspace.',
      {
        properties: {
          query: shortText(QUERY_LENGTH_MAX, 'What to look for, in words.'),
          ...picture,
          families: {
            type: 'array',
            items: { enum: FAMILIES },
            maxItems: FAMILIES_ASKED_MAX,
            description: 'Default: all that apply.',
          },
          k: {
            type: 'integer',
            minimum: K_MIN,
            maximum: K_MAX,
            description: `Hits at most; default ${K_DEFAULT}.`,
          },
          thumbnails: {
            type: 'integer',
            minimum: 0,
            maximum: THUMBNAILS_MAX,
            description:
              'Of how many hits pictures are shown, too (in a workspace); default 0: they are linked.',
          },
          exact: {
            type: 'boolean',
            description:
              'Prove that each list has its best rows, in large indexes too. Says nothing about relevance.',
          },
          min_confidence: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            description: `Leave out hits of less confidence; default ${CONFIDENCE_FLOOR}.`,
          },
          ...scope,
        },
      },
      {
        hits: { type: 'array', items: { type: 'object' }, description: 'Best first.' },
        answered: { type: 'boolean', description: 'False: the answer is probably not in these files.' },
        reason: { enum: UNANSWERED_REASONS, description: 'Why it is not answered.' },
        latency_ms: { type: 'number' },
        exact: { type: 'boolean', description: 'Each list is proved to have its best rows.' },
        bounds: { type: 'object', description: 'The same for each family.' },
        charged: { type: 'boolean' },
      },
      { readOnlyHint: true, idempotentHint: true },
    ),
    tool(
      'ingest',
      'Add a file',
      `Makes one file searchable (text, web pages, PDF, office documents, e-books, pictures, films, recordings)${local ? ': a path, or' : ':'} text, or bytes in base64 with a name. Returns when it is searchable. Paid by the call outside a workspace.`,
      {
        properties: {
          ...file,
          text: text('The file’s text.'),
          content_b64: text('The file’s bytes, in base64.'),
          name: shortText(NAME_LENGTH_MAX, 'File name that hits show.'),
          ...scope,
        },
      },
      {
        item: { type: 'object' },
        job_id: { type: 'string' },
        job: { type: 'object' },
        duplicate: { type: 'boolean' },
        charged: { type: 'boolean' },
      },
      { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    ),
    tool(
      'workspace_create',
      'Rent a workspace',
      'Rents a private workspace for some minutes; searches and files inside are included in its price. Paid.',
      {
        properties: {
          ttl_minutes: { type: 'integer', description: 'Minutes; default 15.' },
          spend_limit_usd: {
            type: 'number',
            minimum: 0,
            description: 'Cap on its price with all extensions.',
          },
        },
      },
      {
        id: { type: 'string' },
        expires_at: { type: 'string' },
        ttl_minutes: { type: 'integer' },
        price_usd: money,
        ...(!local && { capability_token: text('Shown once: give it to the other tools as `token`.') }),
      },
      { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    ),
    tool(
      'workspace_usage',
      'Usage of a workspace',
      'Time left, money spent, searches, files and bytes of a workspace. Free.',
      { properties: scope },
      { id: { type: 'string' }, ttl_seconds_left: { type: 'integer' }, spend_usd: money },
      { readOnlyHint: true, idempotentHint: true },
    ),
    tool(
      'workspace_dispose',
      'Destroy a workspace',
      'Destroys a workspace and all its files for good, and gives a signed receipt of it. Free.',
      { properties: scope, ...(local && { required: ['workspace'] }) },
      { id: { type: 'string' }, receipt: text('Compact JWS.'), claims: { type: 'object' } },
      { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    ),
  ];
}
