import type { Block } from '@farthing/protocol/document';
import type { Locator } from '@farthing/protocol/schema/search';

/** A piece of a document that is encoded, indexed and found as a unit. */
export interface Passage {
  readonly text: string;
  readonly locator: Locator;
  /**
   * The page; in a document without pages the section, from 1: equal groups of about eight neighbouring passages. Text
   * outside the pages of a paged document has place 0.
   */
  readonly place: number;
  /** The encoded and indexed text: the document's title, a line break, and the passage. */
  readonly words: string;
}

/** How passages are measured. */
export interface CutSettings {
  /** Absolute path of the text model's tokenizer; null: passages are measured in words. */
  readonly tokenizerPath: string | null;
  /** Most tokens, or words, of a passage. */
  readonly limit: number;
  readonly specialTokens: boolean;
  readonly prefix: string;
}

/** A block with its place in its page's text: UTF-16 units before it. */
export interface PlacedBlock {
  readonly text: string;
  readonly start: number;
  readonly page?: number;
  readonly heading?: string;
}

/** A passage as the native cutter gives it. Offsets are UTF-16 units of the page's text. */
export interface CutPassage {
  readonly text: string;
  readonly words: string;
  readonly charStart: number;
  readonly charEnd: number;
  readonly page?: number;
  readonly heading?: string;
}

/** A text of up to so many passages is one section. */
export const SECTION_PASSAGES = 8;
/** Joins the blocks of one page: offsets count in the joined text. */
export const BLOCK_JOINT = '\n\n';
/** Characters of one task: about a hundred passages, and some ten milliseconds. */
const SLICE_CHARACTERS = 65_536;

/**
 * Divides a document's blocks into slices of bounded length, each block with its offset in its page's text. A block that is
 * too long is cut at a blank line, a sentence, a line's end or a space.
 */
export function sliceBlocks(blocks: readonly Block[]): PlacedBlock[][] {
  const slices: PlacedBlock[][] = [];
  let slice: PlacedBlock[] = [];
  let length = 0;
  for (const block of placed(blocks)) {
    for (const part of parts(block)) {
      // A continued block begins a new slice, because the parts of one slice are joined.
      if (slice.length > 0 && (length + part.text.length > SLICE_CHARACTERS || part.start > block.start)) {
        slices.push(slice);
        [slice, length] = [[], 0];
      }
      slice.push(part);
      length += part.text.length;
    }
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

function* placed(blocks: readonly Block[]): Generator<PlacedBlock> {
  let start = 0;
  let page: number | undefined | null = null;
  for (const block of blocks) {
    const { text, heading } = block;
    if (block.page !== page) start = 0;
    page = block.page;
    yield {
      text,
      start,
      ...(page === undefined ? {} : { page }),
      ...(heading === undefined ? {} : { heading }),
    };
    start += text.length + BLOCK_JOINT.length;
  }
}

function* parts(block: PlacedBlock): Generator<PlacedBlock> {
  let from = 0;
  while (block.text.length - from > SLICE_CHARACTERS) {
    const end = from + cutPoint(block.text.slice(from, from + SLICE_CHARACTERS));
    yield { ...block, text: block.text.slice(from, end), start: block.start + from };
    from = end;
  }
  yield from === 0 ? block : { ...block, text: block.text.slice(from), start: block.start + from };
}

function cutPoint(text: string): number {
  for (const mark of ['\n\n', '. ', '\n', ' ']) {
    const at = text.lastIndexOf(mark);
    if (at > text.length / 2) return at + mark.length;
  }
  // Never cuts a surrogate pair.
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? text.length - 1 : text.length;
}

/** Passages with their locators and places. */
export function placePassages(cut: readonly CutPassage[]): Passage[] {
  const paged = cut.some(({ page }) => page !== undefined);
  const sections = Math.ceil(cut.length / SECTION_PASSAGES);
  return cut.map(({ text, words, charStart, charEnd, page, heading }, index) => ({
    text,
    words,
    locator: {
      ...(page === undefined ? {} : { page }),
      char_start: charStart,
      char_end: charEnd,
      ...(heading === undefined ? {} : { heading }),
    },
    place: paged ? (page ?? 0) : Math.floor((index * sections) / cut.length) + 1,
  }));
}
