import { type Static, type TObject, Type } from '@sinclair/typebox';
import { ERRORS } from '../domain/error.ts';
import { FAMILIES } from '../domain/family.ts';
import { LISTS } from '../domain/fusion.ts';
import { ITEM_STATES } from '../domain/item.ts';
import { JOB_STATES } from '../domain/job.ts';
import { K_DEFAULT, K_MAX, K_MIN } from '../domain/search.ts';
import { PAGE_KINDS, TEXT_SOURCES } from '../domain/segment.ts';

/** The same schemas validate requests and describe them in /openapi.json. `null` means absent everywhere. */

const described = (description: string) => ({ description });
const Money = (description: string) =>
  Type.String({ description, pattern: '^\\d+(\\.\\d{1,6})?$', examples: ['0.0175'] });
const Timestamp = (description: string) => Type.String({ format: 'date-time', description });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const FamilySchema = Type.Union(
  FAMILIES.map((family) => Type.Literal(family)),
  {
    description:
      '`visual`: pictures, by picture or by words; `text_semantic`: meaning of text; `raw`: exact words, near-identical pictures.',
  },
);

export const SearchRequestSchema = Type.Object(
  {
    query: Type.Optional(
      Type.String({ maxLength: 8192, description: 'Natural-language query. Quoted phrases match in order.' }),
    ),
    image_b64: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Base64-encoded picture (JPEG, PNG, WebP, BMP), for reverse-image search.',
      }),
    ),
    families: Type.Optional(
      Type.Array(FamilySchema, {
        minItems: 1,
        maxItems: 16,
        description: 'Default: all that apply to what is asked.',
      }),
    ),
    k: Type.Optional(
      Type.Integer({
        minimum: K_MIN,
        maximum: K_MAX,
        default: K_DEFAULT,
        description: 'How many hits at most.',
      }),
    ),
    explain: Type.Optional(
      Type.Boolean({ default: false, description: 'Say how the answer and each hit came about.' }),
    ),
  },
  {
    $id: 'SearchRequest',
    description: 'At least one of `query` and `image_b64`; with both, both are searched and fused.',
  },
);
export type SearchRequest = Static<typeof SearchRequestSchema>;

export const WorkspaceCreateSchema = Type.Object(
  {
    ttl_minutes: Type.Optional(
      Type.Integer({
        default: 15,
        description: 'Container minutes to prepay. Clamped to the bounds of the server.',
      }),
    ),
    spend_limit_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'Cap on total spend, extensions included.',
      }),
    ),
  },
  { $id: 'WorkspaceCreate' },
);
export type WorkspaceCreate = Static<typeof WorkspaceCreateSchema>;

export const WorkspaceExtendSchema = Type.Object(
  {
    ttl_minutes: Type.Optional(
      Type.Integer({ default: 15, description: 'Minutes to add. Clamped like a creation’s.' }),
    ),
  },
  { $id: 'WorkspaceExtend' },
);
export type WorkspaceExtend = Static<typeof WorkspaceExtendSchema>;

const Share = Type.Number({ minimum: 0, maximum: 1 });

export const LocatorSchema = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Page of the file, from 1, for paged documents.' }),
    ),
    page_kind: Type.Optional(
      Type.Union(
        PAGE_KINDS.map((kind) => Type.Literal(kind)),
        { description: 'What `page` counts, where it is no page of paper.' },
      ),
    ),
    box: Type.Optional(
      Type.Object(
        { x: Share, y: Share, width: Share, height: Share },
        described('Where the text stands, in shares of the page from its upper left corner.'),
      ),
    ),
    time_s: Type.Optional(Type.Number({ description: 'Start in seconds, for time-based media.' })),
    time_end_s: Type.Optional(Type.Number({ description: 'End in seconds.' })),
    char_start: Type.Optional(Count('First character of the passage, in UTF-16 code units.')),
    char_end: Type.Optional(Count('End of the passage, exclusive.')),
    heading: Type.Optional(Type.String({ description: 'Heading above the passage.' })),
  },
  { $id: 'Locator' },
);

export const ItemSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: 'File name as sent.' }),
    media_type: Type.String({ description: 'As recognised from the content.' }),
    bytes: Count('Size of the file.'),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    state: Type.Union(ITEM_STATES.map((state) => Type.Literal(state))),
    families: Type.Array(FamilySchema),
    segments: Count('Searchable pieces.'),
    created_at: Timestamp('When it was accepted.'),
    expires_at: Type.Union([Timestamp('When it will be disposed of.'), Type.Null()]),
    title: Type.Optional(Type.String()),
    pages: Type.Optional(Count('Pages, for paged documents.')),
    duration_s: Type.Optional(Type.Number()),
    not_searchable: Type.Optional(
      Type.Array(Type.String(), described('What is in the file and cannot be found here: `speech`.')),
    ),
    width: Type.Optional(Count('Pixels.')),
    height: Type.Optional(Count('Pixels.')),
  },
  { $id: 'Item' },
);

export const JobSchema = Type.Object(
  {
    id: Type.String(),
    item: Type.String({ description: 'Id of the item.' }),
    state: Type.Union(JOB_STATES.map((state) => Type.Literal(state))),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    segments: Count('Segments made so far.'),
    created_at: Timestamp('When it was accepted.'),
    updated_at: Timestamp('When it last changed.'),
    error: Type.Optional(
      Type.Object({ code: Type.String(), detail: Type.String() }, described('Why it failed.')),
    ),
  },
  { $id: 'Job' },
);

const ListName = Type.Union(LISTS.map((list) => Type.Literal(list)));

const HitExplanationSchema = Type.Object(
  {
    lists: Type.Array(
      Type.Object({
        list: ListName,
        family: FamilySchema,
        rank: Type.Integer({ minimum: 1, description: 'Place in the list.' }),
        raw_score: Type.Number({
          description: 'As the list scores: cosine, BM25, or closeness of fingerprints.',
        }),
        scaled: Type.Number({
          description: 'The raw score between the list’s last and first place, 0 to 1.',
        }),
        share: Type.Number({ description: 'The list’s share in the score of its kind.' }),
        confidence: Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Probability that this list alone gives.',
        }),
      }),
    ),
    kind: Type.Union([Type.Literal('passages'), Type.Literal('pictures')]),
    kind_confidence: Type.Number({
      description: 'Confidence of the kind’s best hit: it sets passages and pictures beside each other.',
    }),
  },
  {
    $id: 'HitExplanation',
    description:
      'score = kind_confidence × the sum of scaled × share, unless a near-identical picture decides.',
  },
);

const SearchExplanationSchema = Type.Object(
  {
    lists: Type.Array(
      Type.Object({
        list: ListName,
        scanned: Count('Rows, or postings, that were looked at.'),
        rescored: Count('Rows whose exact score was computed.'),
        exact: Type.Boolean({ description: 'Proved to be the best of all rows.' }),
      }),
    ),
    segments: Count('Segments of the index.'),
    depth: Count('Places of each list that were scaled and summed.'),
    tasks: Type.Array(
      Type.Object({
        kind: Type.String(),
        batch: Type.Integer({ minimum: 1, description: 'Queries done together, those of others included.' }),
        waited_ms: Type.Number({ description: 'The longest that one of them waited for a worker.' }),
        ran_ms: Type.Number({ minimum: 0 }),
      }),
      described('What the encoders did.'),
    ),
  },
  { $id: 'SearchExplanation' },
);

export const HitSchema = Type.Object(
  {
    item: Type.Ref('Item'),
    confidence: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Calibrated; comparable across families.',
    }),
    family: FamilySchema,
    locator: Type.Ref('Locator'),
    score: Type.Number({ description: 'Fused score; higher is better.' }),
    snippet: Type.Optional(Type.String({ description: 'Part of the passage, for text.' })),
    highlights: Type.Optional(
      Type.Array(
        Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }),
        described('Where words of the query stand in the snippet: start and end, in UTF-16 code units.'),
      ),
    ),
    text_source: Type.Optional(
      Type.Union(
        TEXT_SOURCES.map((source) => Type.Literal(source)),
        {
          description:
            'How the text came to be known: written in the file, recognised (OCR), from subtitles or speech.',
        },
      ),
    ),
    ocr_confidence: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'How sure OCR was of the text.' }),
    ),
    segments: Type.Integer({
      minimum: 1,
      description: 'Segments of the same page, shot or section folded into this hit.',
    }),
    explanation: Type.Optional(Type.Ref('HitExplanation')),
  },
  { $id: 'SearchHit' },
);

const Milliseconds = Type.Optional(Type.Number({ minimum: 0 }));
export const TimingSchema = Type.Object(
  {
    verify_ms: Milliseconds,
    encode_ms: Milliseconds,
    scan_ms: Milliseconds,
    fuse_ms: Milliseconds,
    settle_ms: Milliseconds,
    total_ms: Milliseconds,
  },
  { $id: 'Timing', description: 'Milliseconds of each stage; verify and settle belong to the payment.' },
);

const Charged = Type.Boolean({ description: 'Whether this request was charged.' });
const Warnings = Type.Optional(Type.Array(Type.String(), described('Unknown fields that were ignored.')));

export const SearchResponseSchema = Type.Object(
  {
    hits: Type.Array(Type.Ref('SearchHit')),
    latency_ms: Type.Number({ description: 'From the request read to the hits ready, without the payment.' }),
    timing: Type.Ref('Timing'),
    exact: Type.Boolean({ description: 'True when the lists that were fused are proved to be exact.' }),
    charged: Charged,
    explanation: Type.Optional(Type.Ref('SearchExplanation')),
    warnings: Warnings,
  },
  { $id: 'SearchResponse' },
);

export const IngestResponseSchema = Type.Object(
  {
    item: Type.Ref('Item'),
    job_id: Type.String(),
    job: Type.Ref('Job'),
    duplicate: Type.Optional(Type.Boolean({ description: 'The same bytes were already there.' })),
    credit_used: Type.Optional(Type.Boolean({ description: 'Paid for by an earlier ingest that failed.' })),
    charged: Charged,
    warnings: Warnings,
  },
  { $id: 'IngestResponse' },
);

const WorkspaceState = Type.Union(['active', 'disposing', 'disposed'].map((state) => Type.Literal(state)));

export const WorkspaceSchema = Type.Object(
  {
    id: Type.String(),
    state: WorkspaceState,
    created_at: Timestamp('When it was paid for.'),
    expires_at: Timestamp('When its time is over.'),
    ttl_minutes_asked: Type.Union([Type.Integer(), Type.Null()]),
    ttl_minutes: Type.Integer({ description: 'Minutes given, after clamping.' }),
    ttl_seconds_left: Type.Integer({ minimum: 0 }),
    price_usd: Money('Price of this step.'),
    spend_usd: Money('Spent so far.'),
    spend_limit_usd: Type.Union([Money('Cap on the spend.'), Type.Null()]),
    limits: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    links: Type.Optional(Type.Record(Type.String(), Type.String())),
    capability_token: Type.Optional(
      Type.String({ description: 'Bearer token: shown here and never again.' }),
    ),
    charged: Type.Optional(Charged),
    warnings: Warnings,
  },
  { $id: 'Workspace' },
);

const Percentile = Type.Union([Type.Number({ minimum: 0 }), Type.Null()]);

export const UsageSchema = Type.Object(
  {
    id: Type.String(),
    state: WorkspaceState,
    created_at: Timestamp('When it was paid for.'),
    expires_at: Timestamp('When its time is over.'),
    ttl_seconds_left: Type.Integer({ minimum: 0 }),
    spend_usd: Money('Spent so far.'),
    spend_limit_usd: Type.Union([Money('Cap on the spend.'), Type.Null()]),
    searches: Count('Searches answered.'),
    ingests: Count('Files accepted.'),
    items: Count('Items searchable.'),
    segments: Count('Segments searchable.'),
    bytes: Count('Bytes stored.'),
    latency_ms: Type.Object(
      { p50: Percentile, p90: Percentile, p99: Percentile, max: Percentile },
      described('Of its searches, in milliseconds; null before the first.'),
    ),
  },
  { $id: 'WorkspaceUsage' },
);

const NextPage = Type.Union(
  [Type.String(), Type.Null()],
  described('Cursor of the next page; null on the last.'),
);

export const ItemListSchema = Type.Object(
  { items: Type.Array(Type.Ref('Item')), next: NextPage },
  { $id: 'ItemList' },
);

export const ItemDeletedSchema = Type.Object(
  { id: Type.String(), state: Type.Literal('deleted') },
  { $id: 'ItemDeleted' },
);

export const HistorySchema = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        at: Timestamp('When it was answered.'),
        query: Type.Optional(Type.String()),
        image_sha256: Type.Optional(
          Type.String({ description: 'Digest of the picture that was searched with.' }),
        ),
        families: Type.Optional(Type.Array(FamilySchema)),
        k: Type.Integer(),
        hits: Count('Hits of the answer.'),
        latency_ms: Type.Number(),
      }),
    ),
    next: NextPage,
  },
  { $id: 'SearchHistory' },
);

export const DisposalSchema = Type.Object(
  {
    id: Type.String(),
    state: Type.Literal('disposed'),
    receipt: Type.String({ description: 'Compact JWS (EdDSA); its key is at /.well-known/jwks.json.' }),
    claims: Type.Record(Type.String(), Type.Unknown(), described('Content of the receipt, for reading.')),
  },
  { $id: 'DisposalReceipt' },
);

export const PaymentRequiredSchema = Type.Object(
  {
    x402Version: Type.Integer(),
    error: Type.String(),
    resource: Type.String(),
    description: Type.String(),
    accepts: Type.Array(
      Type.Object(
        {
          scheme: Type.String(),
          network: Type.String(),
          payTo: Type.String(),
          maxAmountRequired: Type.String({ description: 'In the smallest unit of the asset.' }),
          resource: Type.String(),
          description: Type.String(),
          mimeType: Type.String(),
          outputSchema: Type.Record(Type.String(), Type.Unknown(), described('Shapes, for catalogues.')),
          maxTimeoutSeconds: Type.Integer({ description: 'How long a signed payment may wait.' }),
          asset: Type.String({ description: 'Contract of the asset.' }),
          extra: Type.Record(Type.String(), Type.Unknown(), described('EIP-712 domain of the asset.')),
        },
        described('One way to pay.'),
      ),
    ),
  },
  { $id: 'PaymentRequired' },
);

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.Union(
      Object.keys(ERRORS).map((code) => Type.Literal(code)),
      described('Stable; match on this.'),
    ),
    detail: Type.String({ description: 'What was wrong and what to do.' }),
    request_id: Type.String(),
    charged: Type.Boolean(),
  },
  { $id: 'Problem', additionalProperties: true, description: 'RFC 9457 problem document.' },
);

export const HealthSchema = Type.Object({ status: Type.Literal('ok') }, { $id: 'Health' });

const Details = (description: string) => Type.Record(Type.String(), Type.Unknown(), described(description));

export const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    reasons: Type.Array(Type.String(), described('Why it is not ready.')),
    families: Type.Array(
      Type.Object({ family: FamilySchema, available: Type.Boolean() }, { additionalProperties: true }),
      described('What can be searched, by which models and providers, and why not.'),
    ),
    queues: Details('Calls that wait for an encoder.'),
    payment: Details('The facilitator, and payments that run or wait for their outcome.'),
    extraction: Type.Union([Type.String(), Details('How the readers of files are confined.')]),
    prices_usd: Type.Record(Type.String(), Type.String(), described('Prices of the routes.')),
    workspace_minutes: Type.Object(
      { min: Type.Integer(), max: Type.Integer() },
      described('What `ttl_minutes` is clamped to.'),
    ),
  },
  { $id: 'Readiness' },
);

export const DescriptionSchema = Type.Object(
  { openapi: Type.String(), info: Details('Title and version.'), paths: Details('The operations.') },
  { $id: 'Description', additionalProperties: true },
);

export const JwksSchema = Type.Object(
  { keys: Type.Array(Details('A public key (RFC 7517).')) },
  { $id: 'JsonWebKeySet' },
);

/** Every named schema of the description's `components`. */
export const COMPONENTS: readonly TObject[] = [
  SearchRequestSchema,
  WorkspaceCreateSchema,
  WorkspaceExtendSchema,
  LocatorSchema,
  ItemSchema,
  JobSchema,
  HitExplanationSchema,
  HitSchema,
  SearchExplanationSchema,
  TimingSchema,
  SearchResponseSchema,
  IngestResponseSchema,
  WorkspaceSchema,
  UsageSchema,
  ItemListSchema,
  ItemDeletedSchema,
  HistorySchema,
  DisposalSchema,
  PaymentRequiredSchema,
  ProblemSchema,
  HealthSchema,
  ReadinessSchema,
  JwksSchema,
  DescriptionSchema,
];

/** A schema's properties as plain JSON Schema with every reference resolved: for catalogues, which follow none. */
export function inlineProperties(schema: TObject): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema.properties, inline)) as Record<string, unknown>;
}

function inline(key: string, value: unknown): unknown {
  if (key === '$id') return undefined;
  const reference = (value as { $ref?: unknown } | null)?.$ref;
  const target = COMPONENTS.find(({ $id }) => $id === reference);
  if (reference === undefined || !target) return value;
  // Catalogues travel in a header: explanations are only named there.
  return String(reference).endsWith('Explanation') ? { type: 'object' } : { ...target };
}
