import type { Item } from '../domain/item.ts';

/**
 * An Item as it is shown: an extension, or a payer's next upload, moves its end, so that is asked of whoever keeps the
 * time, and not of the Item's record. `expiresAt`: RFC 3339; null where nobody keeps it any more.
 */
export function shownItem(item: Item, expiresAt: string | null): Item {
  return { ...item, expires_at: expiresAt ?? item.expires_at };
}
