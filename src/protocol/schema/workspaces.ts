import { Type } from '@sinclair/typebox';
import type { WorkspaceId } from '../id.ts';
import type { Shown } from './facts.ts';
import {
  Charged,
  Count,
  described,
  FamilySchema,
  Id,
  Money,
  OneOf,
  Ref,
  type Shape,
  shown,
  Timestamp,
  Warnings,
} from './fields.ts';
import { NextPage } from './items.ts';

export const WorkspaceState = OneOf(['active', 'disposing', 'disposed']);
/** Absent for who pays. */
const House = Type.Optional(
  Type.Literal(true, described('A workspace of the house: it has no end and no price.')),
);

export const ReserveSchema = Type.Object(
  {
    minutes: shown(Count('Minutes in reserve that are not used: the last of `ttl_seconds_left`.'), {
      on: ['terminal', 'page'],
      noun: ['minute'],
      label: 'in reserve',
      usual: 0,
      beside: [', {usd}'],
    }),
    usd: shown(Money('What goes back to the prepaid money of who paid for them, unless they are used.'), {
      on: [],
      as: 'usd',
    }),
  },
  { $id: 'Reserve', description: 'Minutes in reserve.' },
);

export const WorkspaceSchema = Type.Object(
  {
    id: Id<WorkspaceId>(),
    state: WorkspaceState,
    created_at: Timestamp('When it was paid for.'),
    expires_at: Timestamp('When it expires.'),
    ttl_minutes_asked: Type.Union([Type.Integer(), Type.Null()]),
    ttl_minutes: Type.Integer({ description: 'Minutes given, after clamping.' }),
    ttl_seconds_left: Type.Integer({ minimum: 0 }),
    price_usd: Money('Price of this step.'),
    spend_usd: Money('Spent so far, without what is in reserve.'),
    spend_limit_usd: Type.Union([Money('Cap on the spend, with what is in reserve.'), Type.Null()]),
    language: Type.Optional(
      Type.String({ description: 'Language of its texts (ISO 639-3), as it was asked for.' }),
    ),
    reserve: Ref(ReserveSchema),
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

/** A workspace as every answer shows it. Times are RFC 3339 in UTC; money is a decimal string in US dollars. */
export type WorkspaceAnswer = Shape<typeof WorkspaceSchema>;

const Percentile = Type.Union([Type.Number({ minimum: 0 }), Type.Null()]);

export const UsageSchema = Type.Object(
  {
    id: shown(Id<WorkspaceId>(), { on: ['terminal'], label: 'workspace' }),
    house: House,
    state: WorkspaceState,
    created_at: Timestamp('When it was paid for.'),
    expires_at: shown(Type.Union([Timestamp('When it expires.'), Type.Null()]), { on: [], as: 'time' }),
    ttl_seconds_left: shown(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]), {
      on: ['terminal'],
      as: 'duration',
      label: 'time left',
      beside: [', until {expires_at}'],
    }),
    spend_usd: shown(Money('Spent so far, without what is in reserve.'), {
      on: ['terminal', 'page'],
      as: 'usd',
      label: 'spent',
      beside: [' of at most {spend_limit_usd}'],
    }),
    spend_limit_usd: shown(Type.Union([Money('Cap on the spend, with what is in reserve.'), Type.Null()]), {
      on: [],
      as: 'usd',
    }),
    reserve: shown(Ref(ReserveSchema), { on: ['terminal', 'page'] }),
    searches: shown(Count('Searches answered.'), {
      on: ['terminal', 'page'],
      as: 'count',
      beside: [', half of them within {latency_ms}'],
    }),
    ingests: shown(Count('Files accepted.'), { on: ['page'], as: 'count', label: 'uploads' }),
    items: shown(Count('Items searchable.'), {
      on: ['terminal', 'page'],
      as: 'count',
      label: 'files',
      beside: [', {bytes}'],
    }),
    segments: shown(Count('Segments searchable.'), {
      on: ['page'],
      as: 'count',
      title: 'Pieces that are found by themselves: passages, pages, pictures',
    }),
    bytes: shown(Count('Bytes stored.'), { on: [], as: 'bytes' }),
    text_model: shown(
      Type.Optional(
        Type.String({
          description:
            'The model that texts are found by meaning with, and its weights. A small index changes to the one for other languages when texts in one come.',
        }),
      ),
      { on: ['page'], label: 'text model' },
    ),
    latency_ms: shown(
      Type.Object(
        { p50: Percentile, p90: Percentile, p99: Percentile, max: Percentile },
        described('Of its searches, in milliseconds; null before the first.'),
      ),
      { on: [], as: 'median' },
    ),
  },
  { $id: 'WorkspaceUsage' },
);

export type UsageAnswer = Shape<typeof UsageSchema>;

export const ReserveEndedSchema = Type.Object(
  {
    id: Id<WorkspaceId>(),
    expires_at: Timestamp('When the workspace expires now.'),
    ttl_seconds_left: Type.Integer({ minimum: 0 }),
    returned_minutes: Count('Minutes that were in reserve and not used.'),
    returned_usd: Money('What goes back to the prepaid money of who paid for them.'),
  },
  { $id: 'ReserveEnded' },
);

/** The answer to an end of the reserve. */
export type ReserveEndedAnswer = Shape<typeof ReserveEndedSchema>;

export const HistorySchema = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        at: Timestamp('When it was answered.'),
        query: Type.Optional(Type.String()),
        image_sha256: Type.Optional(
          Type.String({ description: 'Digest of the picture that was searched with.' }),
        ),
        like: Type.Optional(Type.String({ description: 'Id of the item that the hits were to be like.' })),
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

/** Newest first. */
export type HistoryAnswer = Shape<typeof HistorySchema>;
/** One search of a workspace. Only the digest of its picture is stored. */
export type HistoryEntry = HistoryAnswer['entries'][number];

const Inventory = (how: Shown) => shown(Type.Union([Count(), Type.Null()]), how);

export const ReceiptClaimsSchema = Type.Object(
  {
    sub: Id<WorkspaceId>(),
    iat: Type.Integer({ description: 'When it was signed, in seconds since 1970.' }),
    workspace: shown(Id<WorkspaceId>(), { on: ['page'] }),
    created_at: shown(Timestamp('When it was paid for.'), { on: ['page'], as: 'time', label: 'created' }),
    expires_at: Timestamp('When it would have ended.'),
    disposed_at: shown(Timestamp('When its data was destroyed.'), {
      on: ['page'],
      as: 'time',
      label: 'destroyed',
    }),
    reason: shown(Type.Optional(Type.String({ description: 'Why it ended.' })), { on: ['page'] }),
    items: Inventory({
      on: ['page'],
      noun: ['item'],
      label: 'contents',
      beside: [', {segments}', ', {bytes}'],
    }),
    segments: Inventory({ on: [], noun: ['segment'] }),
    bytes: Inventory({ on: [], as: 'bytes' }),
    items_sha256: Type.Union([Type.String(), Type.Null()]),
    searches: shown(Count(), {
      on: ['page'],
      noun: ['search', 'searches'],
      label: 'used',
      beside: [', {ingests}'],
    }),
    ingests: shown(Count(), { on: [], noun: ['upload'] }),
    spend_usd: shown(Money('What it cost.'), { on: ['page'], as: 'usd', label: 'paid' }),
    iss: shown(Type.String({ description: 'The server that signed it.' }), { on: ['page'], label: 'issuer' }),
    copies: Type.Optional(
      Type.Object(
        {
          objects_left: Count(),
          key_destroyed: Type.Boolean(),
          removed_by: Type.Optional(Type.Array(Type.String(), described('Servers that had a copy.'))),
        },
        described('Encrypted copies beyond the server’s disk, which were destroyed, too.'),
      ),
    ),
    kept: Type.Array(
      Type.Object({
        what: Type.String(),
        why: Type.String(),
        until: Type.Union([Type.String(), Type.Null()], described('RFC 3339; null: no set end.')),
      }),
      described('What outlives the workspace.'),
    ),
  },
  {
    $id: 'ReceiptClaims',
    description:
      'Content of a disposal receipt. Counts are null if the index could not be read: its folder is destroyed all the same.',
  },
);

export type ReceiptClaims = Shape<typeof ReceiptClaimsSchema>;
/** Something that outlives the workspace: its receipt says so. */
export type KeptFact = ReceiptClaims['kept'][number];

export const DisposalSchema = Type.Object(
  {
    id: Id<WorkspaceId>(),
    state: Type.Literal('disposed'),
    receipt: Type.String({ description: 'Compact JWS (EdDSA); its key is at /.well-known/jwks.json.' }),
    claims: Ref(ReceiptClaimsSchema, described('Content of the receipt, for reading.')),
  },
  { $id: 'DisposalReceipt' },
);

export type DisposalAnswer = Shape<typeof DisposalSchema>;
