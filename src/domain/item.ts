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
export function movedItem<Item extends { readonly id: ItemId; readonly state: ItemState }>(
  item: Item,
  state: ItemState,
): Item {
  if (!itemMayPass(item.state, state))
    throw new Error(`item ${item.id} may not go from ${item.state} to ${state}`);
  return { ...item, state };
}
