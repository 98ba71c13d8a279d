/** Where in a file a Segment lies. Pages count from 1; seconds from the start; characters are UTF-16 code units. */
export interface Locator {
  readonly page?: number;
  readonly time_s?: number;
  readonly time_end_s?: number;
  readonly char_start?: number;
  readonly char_end?: number;
  readonly heading?: string;
}

/** What a Shard keeps of a Segment besides its vectors and postings: everything that a hit shows. */
export interface SegmentRecord {
  readonly item: string;
  readonly locator: Locator;
  /** Page, shot or section of the Item: hits of one place are folded into one. */
  readonly place: number;
  /** The passage's own text, without its document's title. Absent for pictures. */
  readonly text?: string;
}
