import type { PictureContent } from '../domain/document.ts';
import { FAMILIES, type Family } from '../domain/family.ts';
import type { IngestPassage, IngestSegment, VectorsBySpace } from './parts.ts';

/** Segments of passages, each with its row of every space that the encoder filled. */
export function passageSegments(
  item: string,
  passages: readonly IngestPassage[],
  vectors: VectorsBySpace,
): IngestSegment[] {
  return passages.map(({ text, locator, place, words }, index) => ({
    record: { item, locator, place, text },
    words,
    vectors: rowsAt(vectors, index, passages.length),
  }));
}

/** Segments of pictures: a page's lies at the page's place, so that it is folded with the page's passages. */
export function pictureSegments(
  item: string,
  pictures: readonly PictureContent[],
  vectors: VectorsBySpace,
): IngestSegment[] {
  return pictures.map(({ page, fingerprint, digest }, index) => ({
    record: { item, locator: page === undefined ? {} : { page }, place: page ?? 0 },
    fingerprint,
    digest,
    vectors: rowsAt(vectors, index, pictures.length),
  }));
}

/** The families by which these Segments can be found. */
export function familiesOf(passages: readonly IngestSegment[], pictures: readonly IngestSegment[]): Family[] {
  const found = new Set<Family>();
  if (passages.length + pictures.length > 0) found.add('raw');
  if (passages.some((segment) => Object.keys(segment.vectors).length > 0)) found.add('text_semantic');
  if (pictures.some((segment) => Object.keys(segment.vectors).length > 0)) found.add('visual');
  return FAMILIES.filter((family) => found.has(family));
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
