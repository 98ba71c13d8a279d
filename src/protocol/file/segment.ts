/** A rectangle on a page, from its upper left corner, in shares of the page's width and height (0..1). */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where a text comes from: written in the file, recognised in a picture, part of a recording, or metadata of the file (its date, camera, tags, name). */
export const TEXT_SOURCES = ['native', 'ocr', 'subtitle', 'speech', 'metadata'] as const;
export type TextSource = (typeof TEXT_SOURCES)[number];

/** The unit that a format counts as pages. */
export const PAGE_KINDS = ['page', 'slide', 'sheet', 'chapter'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];
