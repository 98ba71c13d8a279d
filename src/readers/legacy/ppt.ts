import type { Block } from '@farthing/protocol/document';
import { contentReader } from '../office/office.ts';
import type { OfficeContent, Report } from '../office/office-content.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt, encrypted } from '../reading/refusal.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';
import { compoundOf, hasStream, streamOf } from './compound.ts';

const MAIN = 'PowerPoint Document';
const ENCRYPTED = 'EncryptedSummary';

/** PowerPoint 97 to 2003: titles, text and notes of the slides. Not read: tables drawn by lines, charts, pictures. */
export const ppt: MakeReader = (mediaType) =>
  contentReader(mediaType, { sniff: (file) => hasStream(file, [MAIN]), read: readPpt });

/** Types of records (MS-PPT 2.13.24). */
const [SLIDE, NOTES, LISTED_SLIDE, SLIDE_LIST] = [0x03ee, 0x03f0, 0x03f3, 0x0ff0];
const [TEXT_HEADER, TEXT_16, TEXT_8] = [0x0f9f, 0x0fa0, 0x0fa8];
const [TITLE, CENTRED_TITLE] = [0, 6];
const HEADER_BYTES = 8;
/** A container has this version. */
const CONTAINER = 0x0f;
const DEPTH_MAX = 50;
/** Lists of slides by their instance: of slides, masters and notes. */
const OF_SLIDES = 0;

interface Slide {
  titles: string[];
  texts: string[];
}

interface Found {
  /** Texts of placeholders, slide by slide. */
  readonly listed: Slide[];
  /** Texts of other boxes, slide by slide. */
  readonly drawn: Slide[];
  readonly notes: Slide[];
  /** Containers that are nested too deep to be walked. */
  tooDeep: number;
}

/** Walks all records once, in the order of the file. */
function readPpt(file: SourceFile, report: Report): OfficeContent {
  const compound = file.find(compoundOf);
  const stream = compound && streamOf(compound, MAIN);
  if (!stream) throw corrupt('its slides are missing');
  if (streamOf(compound, ENCRYPTED)) throw encrypted('presentation');
  const found: Found = { listed: [], drawn: [], notes: [], tooDeep: 0 };
  walk(
    new DataView(stream.buffer, stream.byteOffset, stream.byteLength),
    0,
    stream.length,
    found,
    undefined,
    0,
  );
  const count = Math.max(found.listed.length, found.drawn.length);
  const blocks = Array.from({ length: count }, (_, at): Block => {
    const parts = [found.listed[at], found.drawn[at]];
    const titles = parts.flatMap((slide) => slide?.titles ?? []);
    const texts = parts.flatMap((slide) => slide?.texts ?? []);
    const notes = found.notes.length === count ? (found.notes[at]?.texts ?? []) : [];
    const text = [...titles, ...texts, ...notes].join('\n');
    const heading = shorten(titles.join(' '), 200);
    return { text, page: at + 1, ...(heading !== '' && { heading }) };
  });
  // Notes that belong to no known slide are read at the end.
  const loose = found.notes.length === count ? [] : found.notes.flatMap(({ texts }) => texts);
  if (found.tooDeep > 0) report('text', 'limit', found.tooDeep);
  report('pictures', 'unsupported');
  report('charts', 'unsupported');
  return {
    blocks: [...blocks, ...(loose.length > 0 ? [{ text: loose.join('\n') }] : [])].filter(
      ({ text }) => text !== '',
    ),
    pictures: [],
    pages: count,
    pageKind: 'slide',
  };
}

function walk(
  view: DataView,
  from: number,
  to: number,
  found: Found,
  inside: Slide | 'list' | undefined,
  depth: number,
): void {
  let slide = inside === 'list' ? undefined : inside;
  let isTitle = false;
  for (let at = from; at + HEADER_BYTES <= to; ) {
    const version = view.getUint16(at, true);
    const type = view.getUint16(at + 2, true);
    const start = at + HEADER_BYTES;
    const end = Math.min(to, start + view.getUint32(at + 4, true));
    at = end;
    if (type === LISTED_SLIDE && inside === 'list') {
      slide = { titles: [], texts: [] };
      found.listed.push(slide);
    } else if (type === TEXT_HEADER && end - start >= 4)
      isTitle = [TITLE, CENTRED_TITLE].includes(view.getUint32(start, true));
    else if ((type === TEXT_16 || type === TEXT_8) && slide) {
      const text = textAt(view, start, end, type === TEXT_16);
      if (text !== '') (isTitle ? slide.titles : slide.texts).push(text);
    } else if ((version & 0x0f) === CONTAINER)
      if (depth === DEPTH_MAX) found.tooDeep++;
      else walk(view, start, end, found, childOf(type, version >> 4, slide, found), depth + 1);
  }
}

/** What the records inside a container belong to. */
function childOf(
  type: number,
  instance: number,
  slide: Slide | undefined,
  found: Found,
): Slide | 'list' | undefined {
  if (type === SLIDE_LIST) return instance === OF_SLIDES ? 'list' : undefined;
  if (type !== SLIDE && type !== NOTES) return slide;
  const own: Slide = { titles: [], texts: [] };
  (type === SLIDE ? found.drawn : found.notes).push(own);
  return own;
}

function textAt(view: DataView, from: number, to: number, is16: boolean): string {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + from, to - from);
  const text = new TextDecoder(is16 ? 'utf-16le' : 'windows-1252').decode(bytes);
  return withoutControls(text.replace(/[\r\v]/g, '\n')).trim();
}
