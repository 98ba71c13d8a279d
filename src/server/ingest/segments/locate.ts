import { BLOCK_JOINT } from '@farthing/engine/encode/text/passage';
import type { Block, DocumentKind, Extracted, FileInfo, PictureContent } from '@farthing/protocol/document';
import type { Box, TextSource } from '@farthing/protocol/file/segment';
import type { Item } from '@farthing/protocol/schema/items';
import type { Locator } from '@farthing/protocol/schema/search';
import type { IngestPassage } from '../ports/ports.ts';

/** A passage with the location and source that its hits show. */
export interface LocatedPassage extends IngestPassage {
  readonly text_source?: TextSource;
  readonly ocr_confidence?: number;
  readonly speech_confidence?: number;
}

/** Longest stretch of speech or subtitles in one passage: in a longer one, the words found are hard to locate. */
const UNIT_SECONDS_MAX = 10;

/**
 * Blocks as the cutter takes them. It never joins two pages. Media have no pages, so their stretches are numbered like
 * pages; `locate` removes these numbers.
 */
export function cuttable(blocks: readonly Block[]): Block[] {
  let unit = 0;
  let began = Number.NEGATIVE_INFINITY;
  return blocks.map((block) => {
    if (block.time_s === undefined) return block;
    // Chapters come before subtitles, so time may start again.
    const isNew = unit === 0 || block.time_s < began;
    if (isNew || (block.time_end_s ?? block.time_s) - began > UNIT_SECONDS_MAX) {
      unit++;
      began = block.time_s;
    }
    return { ...block, page: unit };
  });
}

/** Passages of cuttable blocks, with the boxes, times and sources of the blocks they were cut from. */
export function locate(
  passages: readonly IngestPassage[],
  blocks: readonly Block[],
  { fileInfo, pictures }: Pick<Extracted, 'fileInfo' | 'pictures'>,
): LocatedPassage[] {
  const pages = placedByPage(blocks);
  return passages.map((passage) => {
    const { page, char_start = 0, char_end = 0 } = passage.locator;
    const placed = pages.get(page) ?? [];
    const parts: Part[] = [];
    for (let index = lastAtOrBefore(placed, char_start, startOf); index < placed.length; index++) {
      const { start, block } = placed[index]!;
      if (start >= char_end) break;
      const from = Math.max(0, char_start - start);
      const to = Math.min(block.text.length, char_end - start);
      if (from < to) parts.push({ block, from, to });
    }
    return {
      ...passage,
      ...timeOrPage(passage, parts, fileInfo, pictures),
      ...sourceOf(parts),
    };
  });
}

/**
 * A file's name as a passage: located at its first picture. Films and recordings are shown from their beginning.
 */
export function namePassage(
  { name }: Pick<Item, 'name'>,
  { pictures, fileInfo: { kind } }: Pick<Extracted, 'pictures' | 'fileInfo'>,
): LocatedPassage {
  const locator = kind === 'video' || kind === 'audio' ? { time_s: 0 } : {};
  const words = wordsOfName(name);
  return { text: name, words, locator, place: placeOfNotes(pictures), text_source: 'metadata' };
}

/** Words by which a file's name is found: the name, and the name without its ending. `native/core/src/store/titles.rs` does the same. */
export function wordsOfName(name: string): string {
  const end = name.lastIndexOf('.');
  return end > 0 ? `${name}\n${name.slice(0, end)}` : name;
}

const CAPTIONED: ReadonlySet<DocumentKind> = new Set(['picture', 'video', 'audio']);

interface PlacedBlock {
  readonly start: number;
  readonly block: Block;
}

function startOf({ start }: PlacedBlock): number {
  return start;
}

/** Index of the last entry whose key is at most `key`, or 0: a binary search, since there may be a million entries. */
function lastAtOrBefore<T>(entries: readonly T[], key: number, keyOf: (entry: T) => number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(entries[middle]!) <= key) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The characters of a block, from and to, that a passage was cut from. */
interface Part {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
}

/** Blocks of each page, with the offsets that the cutter gives them. */
function placedByPage(blocks: readonly Block[]): Map<number | undefined, PlacedBlock[]> {
  const pages = new Map<number | undefined, PlacedBlock[]>();
  let start = 0;
  let page: number | undefined | null = null;
  for (const block of blocks) {
    if (block.page !== page) start = 0;
    page = block.page;
    const placed = pages.get(page) ?? [];
    pages.set(page, placed);
    placed.push({ start, block });
    start += block.text.length + BLOCK_JOINT.length;
  }
  return pages;
}

function timeOrPage(
  { locator, place }: IngestPassage,
  parts: readonly Part[],
  fileInfo: FileInfo,
  pictures: readonly PictureContent[],
): { locator: Locator; place: number } {
  const time_s = parts[0]?.block.time_s;
  if (time_s !== undefined) {
    const { page: _unit, ...rest } = locator;
    const time_end_s = parts.at(-1)!.block.time_end_s;
    return {
      locator: { ...rest, time_s, ...(time_end_s !== undefined && { time_end_s }) },
      place: shotAt(pictures, time_s) ?? place,
    };
  }
  // A picture's caption is located at the picture, a recording's tags at the recording.
  const isCaption = CAPTIONED.has(fileInfo.kind) && locator.page === undefined;
  const box = boxOf(parts);
  return {
    locator: {
      ...locator,
      ...(locator.page !== undefined &&
        fileInfo.pageKind !== undefined &&
        fileInfo.pageKind !== 'page' && { page_kind: fileInfo.pageKind }),
      ...(box && { box }),
    },
    place: isCaption ? placeOfNotes(pictures) : place,
  };
}

/** Place of notes (captions, tags, names) on a picture, film or recording: that of its first page, if it has pages. */
function placeOfNotes([first]: readonly PictureContent[]): number {
  return first?.page ?? 0;
}

/** Place of the shot shown at a time: hits of a shot's text and picture are folded. */
function shotAt(pictures: readonly PictureContent[], time_s: number): number | undefined {
  const index = pictures.findLastIndex((picture) => picture.time_s !== undefined && picture.time_s <= time_s);
  return index < 0 ? undefined : index + 1;
}

function boxOf(parts: readonly Part[]): Box | undefined {
  let [left, top, right, bottom] = [1, 1, 0, 0];
  for (const { block, from, to } of parts) {
    const marks = block.marks ?? [];
    for (let index = lastAtOrBefore(marks, from, (mark) => mark.at); index < marks.length; index++) {
      const { at, box } = marks[index]!;
      if (at >= to) break;
      left = Math.min(left, box.x);
      top = Math.min(top, box.y);
      right = Math.max(right, box.x + box.width);
      bottom = Math.max(bottom, box.y + box.height);
    }
  }
  if (right <= left || bottom <= top) return undefined;
  return { x: left, y: top, width: rounded(right - left), height: rounded(bottom - top) };
}

/** The field with a recogniser's confidence, by the source of its text. */
const CONFIDENCES: Partial<Record<TextSource, 'ocr_confidence' | 'speech_confidence'>> = {
  ocr: 'ocr_confidence',
  speech: 'speech_confidence',
};

/** The source of most of the text, and the mean confidence of the recognised text. */
function sourceOf(parts: readonly Part[]): Omit<LocatedPassage, keyof IngestPassage> {
  const lengths = new Map<TextSource, number>();
  let confidence = 0;
  let recognised = 0;
  for (const { block, from, to } of parts) {
    const source = block.source ?? 'native';
    lengths.set(source, (lengths.get(source) ?? 0) + to - from);
    if (block.confidence === undefined) continue;
    confidence += block.confidence * (to - from);
    recognised += to - from;
  }
  const [most] = [...lengths].sort((a, b) => b[1] - a[1]);
  if (!most || most[0] === 'native') return {};
  const field = CONFIDENCES[most[0]];
  return {
    text_source: most[0],
    ...(field && recognised > 0 && { [field]: rounded(confidence / recognised) }),
  };
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
