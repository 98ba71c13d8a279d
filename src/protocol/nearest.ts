/** Shortest word that may be meant by a part of a name, or by a longer one. */
const PART_LENGTH_MIN = 3;
/** Longer words are compared no further: the cost grows with the square. */
const LENGTH_MAX = 40;

/**
 * The known name that a mistyped one most likely means: one with few slips (insertions, deletions, replacements, swaps of
 * neighbours), or one that contains it or begins with it. Undefined where none is near.
 */
export function nearest<Name extends string>(word: string, names: Iterable<Name>): Name | undefined {
  const typed = word.toLowerCase().slice(0, LENGTH_MAX);
  let best: { name: Name; distance: number } | undefined;
  for (const name of names) {
    const distance = distanceOf(typed, name.toLowerCase());
    if (distance !== undefined && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** Undefined when they are too far apart. */
function distanceOf(typed: string, name: string): number | undefined {
  // `q` for `query`: nothing else says as little.
  if (typed !== '' && typed.length < PART_LENGTH_MIN && name.startsWith(typed))
    return name.length - typed.length;
  // `top_k` for `k`: as little as an infix, but no other name is a whole word of it.
  if (typed.split('_').includes(name)) return LENGTH_MAX + name.length;
  const slips = slipsBetween(typed, name);
  const most = Math.max(1, Math.floor(Math.max(typed.length, name.length) / 3));
  // One letter in place of another has nothing in common with it.
  if (slips <= most && slips < Math.max(typed.length, name.length)) return slips;
  const [short, long] = typed.length < name.length ? [typed, name] : [name, typed];
  // `minutes` for `ttl_minutes`: worse than a slip.
  return short.length >= PART_LENGTH_MIN && long.includes(short) ? LENGTH_MAX + long.length : undefined;
}

/** Letters added, left out, changed, or swapped with their neighbour (optimal string alignment). Its cost is the product of the lengths. */
export function slipsBetween(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        row[j - 1]! + 1,
        last[j]! + 1,
        last[j - 1]! + (same ? 0 : 1),
        swapped ? before[j - 2]! + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
