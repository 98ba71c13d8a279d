import type { ItemId } from './id.ts';

export const ITEM_STATES = ['pending', 'searchable', 'failed'] as const;
/** Names of an Item beside its first one, as `native/core/src/write/aliases.rs` has it. */
export const ALIASES_MAX = 16;

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

/** Whether a name is one of an Item's. */
export function isCalled({ name, aliases = [] }: Names, called: string): boolean {
  return name === called || aliases.includes(called);
}

interface Names {
  readonly name: string;
  readonly aliases?: readonly string[];
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
