/** A small picture of an Item, or of one of its pages: WebP. */
export interface Preview {
  readonly bytes: Uint8Array;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

export const PREVIEW_TYPE = 'image/webp';

/** The displayed part of an Item. */
export interface PreviewOf {
  /** Page, from 1. Absent: the first, or the only one. */
  readonly page?: number;
  /** Seconds from the start, for time-based media. */
  readonly timeS?: number;
}
