/** A rectangle on a page, from its upper left corner, in shares of the page's width and height (0..1). */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where a text comes from: written in the file, recognised in a picture, or part of a recording. */
export const TEXT_SOURCES = ['native', 'ocr', 'subtitle', 'speech'] as const;
export type TextSource = (typeof TEXT_SOURCES)[number];

/** What a format without paper pages counts as pages. */
export const PAGE_KINDS = ['page', 'slide', 'sheet', 'chapter'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** Where in a file a Segment lies. Pages count from 1, seconds from the start, characters are UTF-16 code units. */
export interface Locator {
  readonly page?: number;
  /** Absent: a page. */
  readonly page_kind?: PageKind;
  /** On the page: the text's rectangle. */
  readonly box?: Box;
  readonly time_s?: number;
  readonly time_end_s?: number;
  readonly char_start?: number;
  readonly char_end?: number;
  readonly heading?: string;
}

/**
 * What a Shard stores of a Segment besides its vectors and postings. All of it but `item`, `place` and `text` is shown in hits
 * as it is: a new field needs its description in the interface, and nothing between.
 */
export interface SegmentRecord {
  readonly item: string;
  readonly locator: Locator;
  /** Page, shot or section of the Item: hits of one place are folded into one. */
  readonly place: number;
  /** The passage's own text, without its document's title. Absent for pictures. */
  readonly text?: string;
  /** Absent with a text: native. */
  readonly text_source?: TextSource;
  /** How sure OCR was of the text, 0..1. */
  readonly ocr_confidence?: number;
}

/** What a hit shows of a Segment: of its text, only the part with the query's words. */
export interface ShownSegment extends Omit<SegmentRecord, 'item' | 'text'> {
  /** The part of a passage with most of the query's words; absent for pictures, as are highlights and the text's source. */
  readonly snippet?: string;
  /** Where words of the query stand in the snippet, in UTF-16 units, in ascending order. */
  readonly highlights?: readonly (readonly [start: number, end: number])[];
}
