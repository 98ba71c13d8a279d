import type { ItemId, WorkspaceId } from '../id.ts';
import type { ItemTextAnswer } from './item-text.ts';
import type { Item } from './items.ts';
import type { Locator } from './search.ts';

/** Media type of an export: one JSON value a line. */
export const EXPORT_MEDIA_TYPE = 'application/x-ndjson';
/** Format of the lines below. A reader refuses another one. */
export const EXPORT_FORMAT = 1;

/** The first line of an export. */
export interface ExportStart {
  readonly type: 'workspace';
  readonly format: number;
  /** Release of the server that wrote it. */
  readonly version: string;
  readonly workspace: WorkspaceId;
  /** RFC 3339. */
  readonly exported_at: string;
  /** Whether the uploaded files are in it. */
  readonly content: boolean;
  /** The vectors are in it; absent where they are not. */
  readonly vectors?: true;
}

/** A vector space, once, before the first line with vectors of it. */
export interface ExportSpace {
  readonly type: 'space';
  readonly space: string;
  /** Identity of the model's weights and their arithmetic, hexadecimal: vectors are comparable where it is the same. */
  readonly model_sha256: string;
  /** For people: the model, its file of weights and what runs it. Absent for a model of long ago. */
  readonly weights?: string;
  readonly dimensions: number;
  /** Each vector is the base64 of so many of these, as the index has them. */
  readonly element: 'float32le';
}

/** Base64 by the name of the space. Empty where no model made one. */
export interface ExportVectors {
  readonly vectors: Readonly<Record<string, string>>;
}

type Passage = ItemTextAnswer['passages'][number];

/** Some passages of an item. */
export interface ExportPassages {
  readonly type: 'passages';
  readonly item: ItemId;
  readonly passages: readonly (Passage & Partial<ExportVectors>)[];
}

/** Some pictures of an item: a picture itself, those of its pages, frames of a film. Only with vectors. */
export interface ExportPictures {
  readonly type: 'pictures';
  readonly item: ItemId;
  readonly pictures: readonly (ExportVectors & { readonly locator: Locator })[];
}

/** The last line. Without it an export is incomplete. */
export interface ExportEnd {
  readonly type: 'end';
  readonly items: number;
  readonly passages: number;
  /** Total size of the files. */
  readonly bytes: number;
  /** Absent where they are not in it. */
  readonly vectors?: number;
}

/** An item's line is followed by those of its passages, of its pictures, then by those of its file, in pieces. */
export type ExportLine =
  | ExportStart
  | ExportSpace
  | { readonly type: 'item'; readonly item: Item }
  | ExportPassages
  | ExportPictures
  | { readonly type: 'content'; readonly item: ItemId; readonly base64: string }
  | ExportEnd;
