import type { Family } from './family.ts';

export const ITEM_STATES = ['pending', 'searchable', 'failed'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

/** One ingested file, as every answer shows it. Absent fields do not apply to its kind. */
export interface Item {
  readonly id: string;
  readonly name: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly state: ItemState;
  readonly families: readonly Family[];
  readonly segments: number;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly title?: string;
  readonly pages?: number;
  readonly duration_s?: number;
  /** What is in the file and cannot be found here. */
  readonly not_searchable?: readonly string[];
  readonly width?: number;
  readonly height?: number;
}
