import type { PictureContent } from '@farthing/protocol/document';
import {
  FAMILIES,
  type Family,
  LIST_NAMES,
  LISTS,
  type ListTraits,
  type SegmentKind,
} from '@farthing/protocol/family';
import type { PageKind } from '@farthing/protocol/file/segment';
import type { ItemId } from '@farthing/protocol/id';
import type { IngestSegment, VectorsBySpace } from '../ports/ports.ts';
import type { LocatedPassage } from './locate.ts';

/** Segments of passages, each with its vector of every space that the encoder filled. */
export function passageSegments(
  item: ItemId,
  passages: readonly LocatedPassage[],
  vectors: VectorsBySpace,
): IngestSegment[] {
  return passages.map(
    ({ text, locator, place, words, text_source, ocr_confidence, speech_confidence }, index) => ({
      record: {
        item,
        locator,
        place,
        text,
        ...(text_source && { text_source }),
        ...(ocr_confidence !== undefined && { ocr_confidence }),
        ...(speech_confidence !== undefined && { speech_confidence }),
      },
      words,
      vectors: rowsAt(vectors, index, passages.length),
    }),
  );
}

/** Segments of pictures. A page's picture has the place of the page's passages, so that their hits are folded. Each shot has a place. */
export function pictureSegments(
  item: ItemId,
  pictures: readonly PictureContent[],
  vectors: VectorsBySpace,
  pageKind?: PageKind,
): IngestSegment[] {
  return pictures.map(({ page, time_s, time_end_s, fingerprint, digest }, index) => ({
    record: {
      item,
      locator: {
        ...(page !== undefined && { page, ...(pageKind !== undefined && { page_kind: pageKind }) }),
        ...(time_s !== undefined && { time_s }),
        ...(time_end_s !== undefined && { time_end_s }),
      },
      place: page ?? (time_s === undefined ? 0 : index + 1),
    },
    fingerprint,
    digest,
    vectors: rowsAt(vectors, index, pictures.length),
  }));
}

/** The families that find these Segments. */
export function familiesOf(passages: readonly IngestSegment[], pictures: readonly IngestSegment[]): Family[] {
  const segments: Partial<Record<SegmentKind, readonly IngestSegment[]>> = { passages, pictures };
  const lists = LIST_NAMES.map((name) => LISTS[name]).filter((list) =>
    segments[list.kind]?.some((segment) => isRankedBy(list, segment)),
  );
  return FAMILIES.filter((family) => lists.some((list) => list.family === family));
}

function isRankedBy(list: ListTraits, { vectors }: IngestSegment): boolean {
  return list.scans !== 'vectors' || Object.keys(vectors).some((space) => list.spaces.includes(space));
}

function rowsAt(vectors: VectorsBySpace, index: number, count: number): Record<string, Float32Array> {
  return Object.fromEntries(
    Object.entries(vectors).map(([space, rows]) => {
      const row = rows[index];
      if (!row || rows.length !== count)
        throw new Error(`the encoder gave ${rows.length} rows of ${space} for ${count} inputs`);
      return [space, row];
    }),
  );
}
