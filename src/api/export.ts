import type { ItemId, WorkspaceId } from '../domain/id.ts';
import type { ItemTextAnswer } from './item-text.ts';
import type { Item } from './items.ts';

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
}

/** The last line. Without it an export is incomplete. */
export interface ExportEnd {
  readonly type: 'end';
  readonly items: number;
  readonly passages: number;
  /** Of the files in it. */
  readonly bytes: number;
}

/** An item's line is followed by those of its passages, then by those of its file, in pieces. */
export type ExportLine =
  | ExportStart
  | { readonly type: 'item'; readonly item: Item }
  | { readonly type: 'passages'; readonly item: ItemId; readonly passages: ItemTextAnswer['passages'] }
  | { readonly type: 'content'; readonly item: ItemId; readonly base64: string }
  | ExportEnd;
