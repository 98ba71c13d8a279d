/** Keeps the newest `most` entries of a map or a set: who adds one calls it, and deletes it first where a repetition is newer. */
export function forgetOldest<Key>(
  all: { readonly size: number; keys(): Iterator<Key>; delete(key: Key): boolean },
  most: number,
): void {
  if (all.size > most) all.delete(all.keys().next().value!);
}
