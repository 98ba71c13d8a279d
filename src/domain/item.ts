import type { Family } from './family.ts';
import type { ItemId } from './id.ts';

export const ITEM_STATES = ['pending', 'searchable', 'failed'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

const NEXT: Record<ItemState, readonly ItemState[]> = {
  pending: ['searchable', 'failed'],
  searchable: [],
  failed: [],
};

/**
 * Whether an Item may pass from one state to another. A searchable or failed Item stays so until it is removed, which may
 * happen in any state. A step repeated after a crash leaves the state as it is, and is allowed.
 */
export function itemMayPass(from: ItemState, to: ItemState): boolean {
  return from === to || NEXT[from].includes(to);
}

/** The Item in its next state. @throws Error for a step that is not allowed. */
export function movedItem(item: Item, state: ItemState): Item {
  if (!itemMayPass(item.state, state))
    throw new Error(`item ${item.id} may not go from ${item.state} to ${state}`);
  return { ...item, state };
}

/** An ingested file, or a file inside one, as every answer shows it. Fields that do not apply to its kind are absent. */
export interface Item {
  readonly id: ItemId;
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
  /** Stretches of a recording in which somebody speaks, in order. */
  readonly speech?: readonly { readonly time_s: number; readonly time_end_s: number }[];
  /** Content of the file that this server cannot search. */
  readonly not_searchable?: readonly string[];
  readonly width?: number;
  readonly height?: number;
  /** The archive or mail that it came in, and its path there. The path is shown, never used. */
  readonly parent_item_id?: ItemId;
  readonly path?: string;
  /** Files inside, each of which is an Item; those that could not be read; those that the Tenant had already. */
  readonly members?: number;
  readonly members_failed?: number;
  readonly members_duplicate?: number;
  /** Why a file inside another could not be read. */
  readonly error?: { readonly code: string; readonly detail: string };
}
