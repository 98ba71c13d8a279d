import { Type } from '@sinclair/typebox';
import type { WorkspaceId } from '../id.ts';
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
  Timestamp,
  Warnings,
} from './fields.ts';
import { NextPage } from './items.ts';

const WorkspaceState = OneOf(['active', 'disposing', 'disposed']);

export const ReserveSchema = Type.Object(
  {
    minutes: Count('Minutes in reserve that are not used: the last of `ttl_seconds_left`.'),
    usd: Money('What goes back to the prepaid money of who paid for them, unless they are used.'),
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
    id: Id<WorkspaceId>(),
    state: WorkspaceState,
    created_at: Timestamp('When it was paid for.'),
    expires_at: Timestamp('When it expires.'),
    ttl_seconds_left: Type.Integer({ minimum: 0 }),
    spend_usd: Money('Spent so far, without what is in reserve.'),
    spend_limit_usd: Type.Union([Money('Cap on the spend, with what is in reserve.'), Type.Null()]),
    reserve: Ref(ReserveSchema),
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
/** One search of a workspace. Of its picture only the digest is kept. */
export type HistoryEntry = HistoryAnswer['entries'][number];

export const DisposalSchema = Type.Object(
  {
    id: Id<WorkspaceId>(),
    state: Type.Literal('disposed'),
    receipt: Type.String({ description: 'Compact JWS (EdDSA); its key is at /.well-known/jwks.json.' }),
    claims: Type.Record(Type.String(), Type.Unknown(), described('Content of the receipt, for reading.')),
  },
  { $id: 'DisposalReceipt' },
);

export type DisposalAnswer = Shape<typeof DisposalSchema>;
