import { setImmediate as nextTurn } from 'node:timers/promises';
import { FarthingError } from '@farthing/protocol/error';
import type { ItemId } from '@farthing/protocol/id';
import type { ItemTextAnswer } from '@farthing/protocol/schema/item-text';
import type { SegmentRecord } from '@farthing/protocol/schema/search';
import type { TextSnapshot } from '../ports/ports.ts';

/** Where in an item to begin: at a page, at a second, or at the passage with this number. */
export type TextPlace = { readonly page: number } | { readonly timeS: number } | { readonly from: number };

/** Characters of an answer, unless a single passage is longer. */
const LENGTH_MAX = 8_000;
/** Passages read at a time. */
const CHUNK = 32;
/** Passages searched one by one if they are not in order, as in media whose chapters come before their subtitles. */
const LOOKED_AT_MAX = 4_096;
/** Passages searched in one turn of the event loop. */
const LOOKED_AT_PER_TURN = 256;

/**
 * At most `passagesMax` passages of an item's text from a position on, as they were cut for the search.
 * @throws field_invalid for a position beyond the item
 */
export async function textOf(
  snapshot: TextSnapshot,
  id: ItemId,
  place: TextPlace,
  passagesMax = Number.POSITIVE_INFINITY,
): Promise<ItemTextAnswer | undefined> {
  const range = snapshot.segmentsOf(id);
  if (!range) return undefined;
  const read = (from: number, count: number) =>
    snapshot.records(
      Uint32Array.from(
        { length: Math.min(count, range.count - from) },
        (_, index) => range.first + from + index,
      ),
    );
  const passages: ItemTextAnswer['passages'][number][] = [];
  let length = 0;
  for (let from = await startOf(place, range.count, read); from < range.count; from += CHUNK) {
    for (const [index, record] of read(from, CHUNK).entries()) {
      // Pictures come after all passages.
      if (record?.text === undefined) return { id, passages, next: null };
      length += record.text.length;
      const isFull = length > LENGTH_MAX || passages.length >= passagesMax;
      if (passages.length > 0 && isFull) return { id, passages, next: from + index };
      const { text, locator, text_source, speech_confidence } = record;
      passages.push({
        text,
        locator,
        ...(text_source && { text_source }),
        ...(speech_confidence !== undefined && { speech_confidence }),
      });
    }
  }
  return { id, passages, next: null };
}

type Read = (from: number, count: number) => (SegmentRecord | undefined)[];

async function startOf(place: TextPlace, count: number, read: Read): Promise<number> {
  if ('from' in place) return place.from;
  const found =
    'page' in place
      ? await firstOfPage(place.page, count, read)
      : await nearestInTime(place.timeS, count, read);
  if (found !== undefined) return found;
  const [field, what] = 'page' in place ? ['page', `page ${place.page}`] : ['time_s', `${place.timeS} s`];
  throw new FarthingError('field_invalid', `${field}: there is no text at ${what} of this item.`, {
    facts: { field },
  });
}

/** The first passages with their numbers, some in each turn of the event loop. Pictures are left out. */
async function* lookedAt(count: number, read: Read): AsyncGenerator<(readonly [number, SegmentRecord])[]> {
  for (let from = 0; from < Math.min(count, LOOKED_AT_MAX); from += LOOKED_AT_PER_TURN) {
    if (from > 0) await nextTurn();
    const records = read(from, LOOKED_AT_PER_TURN);
    yield records.flatMap((record, index) =>
      record?.text === undefined ? [] : [[from + index, record] as const],
    );
  }
}

/** A binary search by page, then a linear one: text outside the pages may break the order. Pictures come after all passages. */
async function firstOfPage(page: number, count: number, read: Read): Promise<number | undefined> {
  const found = searchedPage(page, count, read);
  if (found !== undefined) return found;
  for await (const passages of lookedAt(count, read)) {
    const first = passages.find(([, { locator }]) => locator.page === page);
    if (first) return first[0];
  }
  return undefined;
}

function searchedPage(page: number, count: number, read: Read): number | undefined {
  let [low, high] = [0, count];
  const at = (index: number) => read(index, 1)[0];
  while (low < high) {
    const middle = (low + high) >> 1;
    const record = at(middle);
    if (record?.text !== undefined && (record.locator.page ?? 0) < page) low = middle + 1;
    else high = middle;
  }
  const first = low < count ? at(low) : undefined;
  return first?.text !== undefined && first.locator.page === page ? low : undefined;
}

/** The passage that began last before this second, or the first of those with a time. */
async function nearestInTime(timeS: number, count: number, read: Read): Promise<number | undefined> {
  let best: { index: number; time: number } | undefined;
  for await (const passages of lookedAt(count, read)) {
    for (const [index, { locator }] of passages) {
      const time = locator.time_s;
      if (time === undefined) continue;
      if (!best || (time <= timeS && time >= best.time) || (best.time > timeS && time < best.time))
        best = { index, time };
    }
  }
  return best?.index;
}
