import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Block } from '@farthing/protocol/document';
import type { Sink } from '../reading/sink.ts';
import { upTo } from '../reading/up-to.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';

export interface Chapter {
  readonly time_s: number;
  readonly title: string;
}

const CHAPTERS_MAX = 1_000;
const TITLE_LENGTH_MAX = 300;
/** A longer title has more characters than are taken. */
const TITLE_BYTES_MAX = 4096;
/** Lists of chapters are small: a larger part of a file is not read. */
const PART_BYTES_MAX = 16 * 2 ** 20;
/** Parts that are skipped on the way to a list of chapters. */
const PARTS_MAX = 100_000;

class TooManyParts extends Error {}

/**
 * Chapters of a recording, in order: MP4 (Nero's `chpl`), Matroska, ID3v2 (`CHAP`), and comments of Ogg and FLAC (`CHAPTER001=…`).
 * Damaged lists give none: the recording itself may be intact.
 * @param report gets chapters beyond a limit
 */
export function chaptersOf(
  path: string,
  mediaType: string,
  tags: Readonly<Record<string, string>>,
  report: Sink['notRead'],
): readonly Chapter[] {
  const file = openSync(path, 'r');
  try {
    const source = new Source(file);
    const found = /mp4|quicktime/.test(mediaType)
      ? mp4Chapters(source)
      : /matroska|webm/.test(mediaType)
        ? matroskaChapters(source)
        : mediaType === 'audio/mpeg'
          ? id3Chapters(source)
          : tagChapters(tags);
    const chapters = found
      .map(({ time_s, title }) => ({
        // Milliseconds, like the times of frames and cues.
        time_s: Math.round(time_s * 1000) / 1000,
        title: shorten(withoutControls(title), TITLE_LENGTH_MAX, report),
      }))
      .filter(({ time_s, title }) => title !== '' && Number.isFinite(time_s) && time_s >= 0)
      .sort((a, b) => a.time_s - b.time_s);
    return upTo(CHAPTERS_MAX, chapters, 'text', report);
  } catch (error) {
    if (error instanceof TooManyParts) report('text', 'limit');
    else if (!(error instanceof RangeError)) throw error;
    return [];
  } finally {
    closeSync(file);
  }
}

/** Each chapter's title as text, from the chapter's start to the next one's. */
export function chapterBlocks(chapters: readonly Chapter[], duration_s: number): Block[] {
  return chapters.map(({ time_s, title }, index) => {
    const end = chapters[index + 1]?.time_s ?? duration_s;
    return { text: `Chapter: ${title}`, time_s, ...(end > time_s && { time_end_s: end }) };
  });
}

/** A file that is read in small parts. @throws RangeError beyond the end of the file */
class Source {
  readonly bytes: number;
  readonly #file: number;

  constructor(file: number) {
    this.#file = file;
    this.bytes = fstatSync(file).size;
  }

  read(at: number, length: number): Buffer {
    if (length > PART_BYTES_MAX || at + length > this.bytes) throw new RangeError('beyond the end');
    const buffer = Buffer.alloc(length);
    readSync(this.#file, buffer, 0, length, at);
    return buffer;
  }
}

/** Boxes (ISO/IEC 14496-12, 4.2) down to moov › udta › chpl. */
function mp4Chapters(source: Source): Chapter[] {
  let [from, to] = [0, source.bytes];
  for (const wanted of ['moov', 'udta', 'chpl']) {
    const box = mp4Box(source, from, to, wanted);
    if (!box) return [];
    [from, to] = box;
  }
  const list = source.read(from, to - from);
  // Version 1 has four reserved bytes, then the count; times are in units of 100 ns.
  let at = list[0] === 1 ? 9 : 5;
  const chapters: Chapter[] = [];
  for (let left = list.readUInt8(at - 1); left > 0; left--) {
    const length = list.readUInt8(at + 8);
    const title = list.toString('utf8', at + 9, at + 9 + length);
    chapters.push({ time_s: Number(list.readBigUInt64BE(at)) / 1e7, title });
    at += 9 + length;
  }
  return chapters;
}

function mp4Box(source: Source, from: number, to: number, wanted: string): [number, number] | undefined {
  for (let at = from, parts = 0; at + 8 <= to; ) {
    if (++parts > PARTS_MAX) throw new TooManyParts();
    const head = source.read(at, 8);
    let [size, start] = [head.readUInt32BE(0), at + 8];
    if (size === 1) [size, start] = [Number(source.read(at + 8, 8).readBigUInt64BE(0)), at + 16];
    if (size === 0) size = to - at;
    if (size < start - at || at + size > to) return undefined;
    if (head.toString('latin1', 4, 8) === wanted) return [start, at + size];
    at += size;
  }
  return undefined;
}

const EBML_SEGMENT = 0x18538067;
const EBML_CHAPTERS = 0x1043a770;
const EBML_EDITION = 0x45b9;
const EBML_ATOM = 0xb6;
const EBML_START = 0x91;
const EBML_DISPLAY = 0x80;
const EBML_TITLE = 0x85;

/** Elements (RFC 8794) down to Segment › Chapters › EditionEntry › ChapterAtom (RFC 9559, 5.1.7). */
function matroskaChapters(source: Source): Chapter[] {
  const segment = [...elements(source, 0, source.bytes)].find(({ id }) => id === EBML_SEGMENT);
  if (!segment) return [];
  const list = [...elements(source, segment.from, segment.to)].find(({ id }) => id === EBML_CHAPTERS);
  if (!list) return [];
  const chapters: Chapter[] = [];
  const children = (id: number, parent: { from: number; to: number }) =>
    [...elements(source, parent.from, parent.to)].filter((element) => element.id === id);
  for (const atom of children(EBML_EDITION, list).flatMap((edition) => children(EBML_ATOM, edition))) {
    const start = children(EBML_START, atom)[0];
    const title = children(EBML_DISPLAY, atom).flatMap((display) => children(EBML_TITLE, display))[0];
    if (!start || !title || start.to - start.from > 8) continue;
    const nanoseconds = [...source.read(start.from, start.to - start.from)].reduce(
      (sum, byte) => sum * 256 + byte,
      0,
    );
    chapters.push({
      time_s: nanoseconds / 1e9,
      title: source.read(title.from, Math.min(title.to - title.from, TITLE_BYTES_MAX)).toString('utf8'),
    });
  }
  return chapters;
}

interface Element {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

function* elements(source: Source, from: number, to: number): Generator<Element> {
  for (let at = from, parts = 0; at + 2 <= to; ) {
    if (++parts > PARTS_MAX) throw new TooManyParts();
    const head = source.read(at, Math.min(12, to - at));
    const idBytes = Math.clz32(head[0]!) - 23;
    if (idBytes > 4 || idBytes < 1) return;
    const id = head.readUIntBE(0, idBytes);
    const sizeBytes = Math.clz32(head[idBytes]!) - 23;
    if (sizeBytes > 8 || sizeBytes < 1) return;
    let size = head[idBytes]! & (0xff >> sizeBytes);
    let unknown = size === 0xff >> sizeBytes;
    for (const byte of head.subarray(idBytes + 1, idBytes + sizeBytes)) {
      size = size * 256 + byte;
      unknown &&= byte === 0xff;
    }
    const start = at + idBytes + sizeBytes;
    // An unknown size, as streams have it: the element ends with its parent.
    const end = unknown ? to : start + size;
    if (end > to) return;
    yield { id, from: start, to: end };
    at = end;
  }
}

/** CHAP frames (ID3v2 Chapter Frame Addendum 1.0) of ID3v2.3 and 2.4; the title is a TIT2 frame inside. */
function id3Chapters(source: Source): Chapter[] {
  const head = source.read(0, 10);
  if (head.toString('latin1', 0, 3) !== 'ID3') return [];
  const isSyncsafe = head[3] === 4;
  const size = (bytes: Buffer, at: number): number =>
    isSyncsafe ? synchsafe(bytes, at) : bytes.readUInt32BE(at);
  const chapters: Chapter[] = [];
  const end = 10 + synchsafe(head, 6);
  for (let at = 10, parts = 0; at + 10 < end; ) {
    if (++parts > PARTS_MAX) throw new TooManyParts();
    const frame = source.read(at, 10);
    if (frame[0] === 0) break;
    const length = size(frame, 4);
    const isChapter = frame.toString('latin1', 0, 4) === 'CHAP';
    const chapter = isChapter ? source.read(at + 10, length) : undefined;
    at += 10 + length;
    if (!chapter) continue;
    const idEnd = chapter.indexOf(0);
    if (idEnd < 0) break;
    const time_s = chapter.readUInt32BE(idEnd + 1) / 1000;
    for (let inner = idEnd + 17; inner + 11 < length; inner += 10 + size(chapter, inner + 4)) {
      if (chapter.toString('latin1', inner, inner + 4) !== 'TIT2') continue;
      const from = inner + 10;
      chapters.push({ time_s, title: id3Text(chapter.subarray(from, from + size(chapter, inner + 4))) });
      break;
    }
  }
  return chapters;
}

/** Seven bits of each byte. */
function synchsafe(bytes: Buffer, at: number): number {
  return [0, 1, 2, 3].reduce((sum, offset) => sum * 128 + (bytes.readUInt8(at + offset) & 0x7f), 0);
}

function id3Text(bytes: Buffer): string {
  const charset = ['windows-1252', 'utf-16le', 'utf-16be', 'utf-8'][bytes[0] ?? 0] ?? 'utf-8';
  const isBigEndian = charset === 'utf-16le' && bytes[1] === 0xfe && bytes[2] === 0xff;
  return new TextDecoder(isBigEndian ? 'utf-16be' : charset).decode(bytes.subarray(1)).replaceAll('\0', '');
}

/** `CHAPTER001=00:01:30.000` and `CHAPTER001NAME=…`, as Ogg's chapter extension has them. */
function tagChapters(tags: Readonly<Record<string, string>>): Chapter[] {
  const upper = new Map(Object.entries(tags).map(([name, value]) => [name.toUpperCase(), value]));
  return [...upper].flatMap(([name, value]) => {
    const number = /^CHAPTER(\d{1,4})$/.exec(name)?.[1];
    const time = /^(\d{1,3}):(\d{2}):(\d{2}(?:\.\d{1,9})?)$/.exec(value.trim());
    const title = number === undefined ? undefined : upper.get(`CHAPTER${number}NAME`);
    if (!time || title === undefined) return [];
    return [{ time_s: Number(time[1]) * 3600 + Number(time[2]) * 60 + Number(time[3]), title }];
  });
}
