import { type Static, Type } from '@sinclair/typebox';
import type { WorkspaceId } from '../id.ts';
import { Id, Ref, type Shape, Timestamp, Warnings } from './fields.ts';
import { NextPage } from './items.ts';
import { WorkspaceState } from './workspaces.ts';

const NAME_LENGTH_MAX = 64;

export const HouseWorkspaceCreateSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: NAME_LENGTH_MAX,
        description: 'What it is called in lists. Several may have the same name.',
      }),
    ),
    language: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: 3,
        description: 'Language of the texts, as for a rented workspace. Default: by the first text.',
      }),
    ),
  },
  { $id: 'HouseWorkspaceCreate' },
);

export type HouseWorkspaceCreate = Static<typeof HouseWorkspaceCreateSchema>;

export const HouseWorkspaceSchema = Type.Object(
  {
    id: Id<WorkspaceId>(),
    house: Type.Literal(true),
    name: Type.Optional(Type.String()),
    state: WorkspaceState,
    created_at: Timestamp('When it was made.'),
    language: Type.Optional(Type.String({ description: 'Language of its texts (ISO 639-3).' })),
    limits: Type.Record(Type.String(), Type.Unknown()),
    links: Type.Record(Type.String(), Type.String()),
    warnings: Warnings,
  },
  { $id: 'HouseWorkspace', description: 'A workspace that stays until it is disposed of.' },
);

export type HouseWorkspaceAnswer = Shape<typeof HouseWorkspaceSchema>;

export const HouseWorkspaceListSchema = Type.Object(
  { workspaces: Type.Array(Ref(HouseWorkspaceSchema)), next: NextPage },
  { $id: 'HouseWorkspaceList' },
);

export type HouseWorkspaceListAnswer = Shape<typeof HouseWorkspaceListSchema>;
