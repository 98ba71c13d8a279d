import { Type } from '@sinclair/typebox';
import { UNREAD_PARTS, UNREAD_REASONS, type UnreadPart, type UnreadReason } from '../file/not-read.ts';
import type { ItemId, JobId } from '../id.ts';
import { ALIASES_MAX, ITEM_STATES } from '../item.ts';
import { JOB_STATES } from '../job.ts';
import {
  Charged,
  Count,
  described,
  FamilySchema,
  Id,
  inData,
  OneOf,
  Ref,
  type Shape,
  shown,
  Timestamp,
  Warnings,
} from './fields.ts';
import { MetadataSchema } from './filter.ts';

export const NotReadSchema = Type.Object(
  {
    what: OneOf(Object.keys(UNREAD_PARTS) as UnreadPart[], described(wordsFor(UNREAD_PARTS))),
    count: Type.Optional(Count('How many, where they can be counted.')),
    why: OneOf(Object.keys(UNREAD_REASONS) as UnreadReason[], described(wordsFor(UNREAD_REASONS))),
    times: Type.Optional(
      Type.Array(
        Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
        described('Where it is in a recording: seconds from and to, of the first twenty.'),
      ),
    ),
  },
  { $id: 'NotRead' },
);

function wordsFor(table: Readonly<Record<string, string>>): string {
  return `${Object.entries(table)
    .map(([word, meaning]) => `\`${word}\`: ${meaning}`)
    .join('; ')}.`;
}

const NotReadList = Type.Optional(
  Type.Array(
    Ref(NotReadSchema),
    described('What of the file was not read, and why. Empty: all of it was. Absent until it is searchable.'),
  ),
);

export const ItemSchema = Type.Object(
  {
    id: inData(Id<ItemId>()),
    name: inData(Type.String({ description: 'File name as sent.' })),
    aliases: inData(
      Type.Optional(
        Type.Array(Type.String(), {
          maxItems: ALIASES_MAX,
          description: 'Other names under which the same bytes were sent. It is found by each of them.',
        }),
      ),
    ),
    media_type: shown(Type.String({ description: 'As recognised from the content.' }), {
      on: ['line', 'data'],
    }),
    bytes: Count('Size of the file.'),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    state: shown(OneOf(ITEM_STATES), { on: ['line', 'list'], usual: 'searchable' }),
    families: Type.Array(FamilySchema),
    segments: shown(Count('Searchable pieces.'), { on: ['page'], noun: ['segment'] }),
    created_at: Timestamp('When it was accepted.'),
    expires_at: Type.Union([Timestamp('When it will be disposed of.'), Type.Null()]),
    title: Type.Optional(Type.String()),
    key: Type.Optional(
      Type.String({ description: 'As its uploader calls it. A later upload with the same key replaces it.' }),
    ),
    metadata: Type.Optional(MetadataSchema),
    charset: Type.Optional(
      Type.Object(
        {
          name: Type.String({
            description: 'As the Encoding Standard of the web names it; besides, `ibm850`.',
          }),
          guessed: Type.Boolean({ description: 'Neither the text nor its bytes say it.' }),
        },
        described('Character set of a text file.'),
      ),
    ),
    pages: shown(Type.Optional(Count('Pages, for paged documents.')), {
      on: ['line', 'list'],
      noun: ['page'],
    }),
    duration_s: shown(Type.Optional(Type.Number()), { on: ['line', 'list'], as: 'seconds' }),
    not_searchable: Type.Optional(
      Type.Array(Type.String(), described('Contents that cannot be searched here, such as `speech`.')),
    ),
    not_read: shown(NotReadList, { on: ['line', 'list'], as: 'not_read' }),
    speech: Type.Optional(
      Type.Array(
        Type.Object({ time_s: Type.Number(), time_end_s: Type.Number() }),
        described('Speech in a recording, in seconds from its start.'),
      ),
    ),
    width: Type.Optional(Count('Pixels.')),
    height: Type.Optional(Count('Pixels.')),
    parent_item_id: Type.Optional(Id<ItemId>('Id of the archive or mail that contained it.')),
    path: Type.Optional(Type.String({ description: 'Path in the archive.' })),
    members: shown(
      Type.Optional(
        Count('Number of files inside. Each is an item; `families` and `segments` cover all of them.'),
      ),
      { on: ['line', 'page'], noun: ['file inside', 'files inside'], beside: [', {members_failed} failed'] },
    ),
    members_failed: shown(
      Type.Optional(Count('Number of members that could not be read; see their `error`.')),
      { on: [], as: 'count', usual: 0 },
    ),
    members_duplicate: Type.Optional(
      Count('Number of members that were already there; they have no new item.'),
    ),
    error: Type.Optional(
      Type.Object(
        { code: Type.String(), detail: Type.String() },
        described('Why a file inside another could not be read.'),
      ),
    ),
  },
  { $id: 'Item' },
);

/** An ingested file, or a file inside one, as it is stored and as every answer shows it. Fields that do not apply to its kind are absent. */
export type Item = Shape<typeof ItemSchema>;

export const JobSchema = Type.Object(
  {
    id: Id<JobId>(),
    item: Id<ItemId>('Id of the item.'),
    state: OneOf(JOB_STATES),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    segments: Count('Segments made so far.'),
    time_left_s: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Seconds to its end at the pace so far, of a running job.' }),
    ),
    created_at: Timestamp('When it was accepted.'),
    updated_at: Timestamp('When it last changed.'),
    not_read: NotReadList,
    error: Type.Optional(
      Type.Object({ code: Type.String(), detail: Type.String() }, described('Why it failed.')),
    ),
  },
  { $id: 'Job' },
);

/** A job as its owner sees it. */
export type PublicJob = Shape<typeof JobSchema>;

export const IngestResponseSchema = Type.Object(
  {
    item: Type.Optional(
      Ref(
        ItemSchema,
        described(
          'Absent when the payer’s index ended before the payment was settled: `job` says how it ended, and the payer has a credit for it.',
        ),
      ),
    ),
    job_id: Id<JobId>(),
    job: Ref(JobSchema),
    duplicate: Type.Optional(Type.Boolean({ description: 'The same bytes were already there.' })),
    credit_used: Type.Optional(Type.Boolean({ description: 'Paid for by an earlier ingest that failed.' })),
    charged: Charged,
    warnings: Warnings,
  },
  { $id: 'IngestResponse' },
);

export type IngestAnswer = Shape<typeof IngestResponseSchema>;

export const NextPage = Type.Union(
  [Type.String(), Type.Null()],
  described('Cursor of the next page; null on the last.'),
);

export const ItemListSchema = Type.Object(
  { items: Type.Array(Ref(ItemSchema)), next: NextPage },
  { $id: 'ItemList' },
);

export type ItemsAnswer = Shape<typeof ItemListSchema>;

export const ItemDeletedSchema = Type.Object(
  { id: Id<ItemId>(), state: Type.Literal('deleted') },
  { $id: 'ItemDeleted' },
);

export type ItemDeletedAnswer = Shape<typeof ItemDeletedSchema>;
