import { FarthingError } from '../error.ts';

/** What hits are to be like: an item, or one place of it. */
export interface LikePlace {
  readonly item: string;
  /** From 1. */
  readonly page?: number;
  /** Seconds from the start. */
  readonly time_s?: number;
  /** Where a passage begins, as a hit's `locator` has it. */
  readonly char_start?: number;
  /** Number of a passage, as `text_from` of a hit names it. */
  readonly passage?: number;
}

/** An item's id, or a place of it. */
export type Like = string | LikePlace;

/** An id is shorter; what is longer is no id. */
export const LIKE_ID_MAX = 128;
const PLACES = ['page', 'time_s', 'char_start', 'passage'] as const;
const PLACE_MAX = 999_999_999;

/** @throws field_invalid */
export function readLike(value: unknown): LikePlace {
  const like = typeof value === 'string' ? { item: value } : value;
  if (typeof like !== 'object' || like === null || Array.isArray(like))
    throw invalid('like', 'send the id of an item, or {"item": id} with page, time_s, char_start or passage');
  const given = Object.entries(like).filter(([, each]) => each !== null);
  const unknown = given.find(
    ([name]) => name !== 'item' && !PLACES.includes(name as (typeof PLACES)[number]),
  );
  if (unknown)
    throw invalid('like', `there is no "${unknown[0].slice(0, 64)}". It takes item, ${PLACES.join(', ')}`);
  const { item, ...places } = Object.fromEntries(given) as Record<string, unknown>;
  if (typeof item !== 'string' || item === '' || item.length > LIKE_ID_MAX)
    throw invalid('like.item', 'send the id of an item');
  const named = Object.entries(places);
  if (named.length > 1) throw invalid('like', `send one of ${PLACES.join(', ')}`);
  for (const [name, place] of named) {
    const least = name === 'page' ? 1 : 0;
    const isWhole = name === 'time_s' || Number.isInteger(place);
    if (typeof place !== 'number' || !isWhole || !(place >= least && place <= PLACE_MAX))
      throw invalid(`like.${name}`, `send a ${name === 'time_s' ? '' : 'whole '}number from ${least}`);
  }
  return { item, ...places };
}

function invalid(at: string, what: string): FarthingError {
  return new FarthingError('field_invalid', `${at}: ${what}.`, { facts: { field: 'like' } });
}
