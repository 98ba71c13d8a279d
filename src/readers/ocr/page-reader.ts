import type { GreyPicture } from '../picture/grey.ts';
import type { Sink } from '../reading/sink.ts';

/** Left, top, right and bottom, in pixels of the picture that was read. */
export interface Corners {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export interface ReadLine {
  readonly text: string;
  /** 0..1. */
  readonly confidence: number;
  readonly bbox: Corners;
}

/** Lines that belong together, in reading order. */
export type ReadParagraph = readonly ReadLine[];

export interface ReadPage {
  readonly paragraphs: readonly ReadParagraph[];
  /** Quarters by which the page was turned clockwise before it was read: corners are of the turned page. */
  readonly turn: number;
}

/** Reads the text that a page shows. */
export interface PageReader {
  /** Side in pixels of a picture that is glanced at. Absent: it cannot tell whether there is writing without reading. */
  readonly glanceSide?: number;
  /** Whether there seems to be writing on a small picture. */
  glance?(picture: GreyPicture): Promise<boolean>;
  /** @param report gets lines beyond a limit @returns no paragraphs for a page without text */
  read(page: GreyPicture, report: Sink['notRead']): Promise<ReadPage>;
}

/** @param quarters of a turn, clockwise */
export function turned(picture: GreyPicture, quarters: number): GreyPicture {
  const { grey, width, height } = picture;
  if (quarters === 0) return picture;
  const out = new Uint8Array(grey.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) out[x * height + height - 1 - y] = grey[y * width + x]!;
  return turned({ grey: out, width: height, height: width }, quarters - 1);
}
