import type { Block } from '@farthing/protocol/document';
import {
  documentPart,
  linksOf,
  type Relationship,
  relationships,
  targetsOf,
} from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { corrupt } from '../reading/refusal.ts';
import { type Colour, colourOf, isClear, isFaint, isTiny, WHITE } from '../reading/visibility.ts';
import { withoutControls } from '../text/charset.ts';
import { Links } from '../text/links.ts';
import { oneLine, shorten } from '../text/outline.ts';
import { raised, STRUCK } from '../text/raised.ts';
import { walkXml } from '../text/xml.ts';
import { drawingText, pictureWords } from './drawings.ts';
import { officeReader } from './office.ts';
import {
  type Attachment,
  aboutIn,
  attachmentsOf,
  type OfficeContent,
  picturesOf,
  type Report,
  titleIn,
} from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

export const pptx = officeReader(readPptx);

/**
 * PresentationML (ECMA-376 part 1, 19): each slide with its title as heading, its text, tables, charts, diagrams, notes,
 * comments and pictures, and once what its layout and master show.
 */
function readPptx(zip: Zip, report: Report): OfficeContent {
  const main = documentPart(zip) ?? 'ppt/presentation.xml';
  const source = zip.text(main);
  if (source === undefined) throw corrupt('the list of its slides is missing');
  const targets = new Map(relationships(zip, main).map(({ id, target }) => [id, target]));
  const slides: string[] = [];
  let size: Size | undefined;
  walkXml(source, {
    open: (name, { id, cx, cy }) => {
      if (name === 'sldSz') size = { width: Number(cx), height: Number(cy) };
      // Two attributes are called id, one of them with a prefix. The later one wins: the relationship's.
      const target = name === 'sldId' && id !== undefined ? targets.get(id) : undefined;
      if (target) slides.push(target);
    },
  });
  const blocks: Block[] = [];
  const pictures: EmbeddedPicture[] = [];
  const attachments: Attachment[] = [];
  const shown = new Set<string>();
  const links = new Links();
  for (const [index, slide] of slides.entries()) {
    const page = index + 1;
    const related = relationships(zip, slide);
    const { heading, text, isHidden } = readSlide(zip, slide, related, report, { links, size });
    const notes = targetsOf(related, 'notesSlide').map((part) => readSlide(zip, part, [], report).text);
    const comments = targetsOf(related, 'comments').map((part) => commentsIn(zip.text(part)));
    const backgrounds = backgroundsOf(zip, related)
      .filter((part) => !shown.has(part))
      .map((part) => {
        shown.add(part);
        return backgroundText(zip, part, report);
      });
    const whole = [heading, text, ...notes, ...comments, ...backgrounds]
      .filter((part) => part !== '')
      .join('\n\n');
    const named = [shorten(heading, 200), isHidden ? '(hidden slide)' : ''].filter(Boolean).join(' ');
    if (whole !== '') blocks.push({ text: whole, page, ...(named !== '' && { heading: named }) });
    const targets = related.map(({ target }) => target);
    pictures.push(...picturesOf(zip, targets, report, page));
    attachments.push(...attachmentsOf(zip, related, report));
  }
  const core = zip.text('docProps/core.xml');
  const title = titleIn(core);
  return {
    blocks: [...blocks, ...links.blocks(blocks), ...aboutIn(core)],
    pictures,
    attachments,
    pages: slides.length,
    pageKind: 'slide',
    ...(title !== undefined && { title }),
  };
}

/** The layout of a slide, and the master of the layout. */
function backgroundsOf(zip: Zip, related: readonly Relationship[]): string[] {
  const layouts = targetsOf(related, 'slideLayout');
  return [...layouts, ...layouts.flatMap((part) => targetsOf(relationships(zip, part), 'slideMaster'))];
}

/** What a layout or master shows by itself: its placeholders say what to write where. */
function backgroundText(zip: Zip, part: string, report: Report): string {
  return readSlide(zip, part, relationships(zip, part), report, { skipsPlaceholders: true }).text;
}

/** The old form has its text in `text`, the new one in paragraphs. */
function commentsIn(source: string | undefined): string {
  if (source === undefined) return '';
  const comments: string[] = [];
  let inText = false;
  walkXml(source, {
    open: (name) => {
      if (name === 'cm' || name === 'reply') comments.push('');
      inText = name === 't' || name === 'text';
    },
    text: (text) => {
      if (inText && comments.length > 0) comments.push(`${comments.pop()}${text}`);
    },
    close: () => {
      inText = false;
    },
  });
  return comments.flatMap((text) => (text.trim() === '' ? [] : [`Comment: ${text.trim()}`])).join('\n');
}

/** Placeholders that repeat on every slide: number, date, footer, header. */
const REPEATED = ['sldNum', 'dt', 'ftr', 'hdr'];

type Kind = 'title' | 'repeated';

interface Size {
  readonly width: number;
  readonly height: number;
}

interface SlideOptions {
  /** No placeholder has text of its own. */
  readonly skipsPlaceholders?: boolean;
  readonly links?: Links;
  /** Of a slide, in the units of its shapes. */
  readonly size?: Size | undefined;
}

/** What lies behind the letters of a shape: its own filling, or the slide's where no other shape can lie between. */
interface ShapeFill {
  colour: Colour | undefined;
  isOwn: boolean;
}

function readSlide(
  zip: Zip,
  part: string,
  related: readonly Relationship[],
  report: Report,
  { skipsPlaceholders = false, links, size }: SlideOptions = {},
): { heading: string; text: string; isHidden: boolean } {
  const paragraphs: string[] = [];
  const headings: string[] = [];
  const stack = new ParagraphStack<Kind>((text, kind) => {
    if (kind !== 'repeated') (kind === 'title' ? headings : paragraphs).push(withoutControls(text).trim());
  });
  let kind: Kind | undefined;
  let [inText, isHidden, isOff] = [false, false, false];
  const source = zip.text(part);
  if (source === undefined) return { heading: '', text: '', isHidden };
  const targets = links ? linksOf(zip, part) : new Map<string, string>();
  const isPlain = !/<(?:\w+:)?(?:pic|bg|graphicFrame|cxnSp|blipFill|gradFill|pattFill)\b/.test(source);
  const path: string[] = [];
  let fill: ShapeFill = { colour: undefined, isOwn: false };
  let ink: Colour | undefined;
  let run = { points: 0, isRaised: false, isStruck: false, target: '' };
  let [last, words] = ['', ''];
  let beside = { x: 0, y: 0 };
  const write = (text: string): void => {
    const ground = fill.isOwn ? fill.colour : isPlain ? WHITE : undefined;
    if (isOff || (run.points > 0 && isTiny(run.points)) || (ink && isFaint(ink, ground))) {
      if (text.trim() !== '') report('hidden_text', 'hidden', 1);
      return;
    }
    const before = /[\p{L}\p{N}]*$/u.exec(last)?.[0] ?? '';
    const shown = run.isRaised ? raised(before, text) : text;
    stack.text(run.isStruck && text.trim() !== '' ? STRUCK.join(shown) : shown);
    last = (last + text).slice(-30);
    words += text;
  };
  walkXml(source, {
    // A copy for older programs.
    skips: (name) => name === 'Fallback',
    open: (name, attributes) => {
      const { type = '', val = '' } = attributes;
      const parent = path.at(-1) ?? '';
      path.push(name);
      if (name === 'sld') isHidden = attributes.show === '0' || attributes.show === 'false';
      else if (name === 'sp') [kind, isOff, fill] = [undefined, false, { colour: undefined, isOwn: false }];
      else if (name === 'cNvPr' && (attributes.hidden === '1' || attributes.hidden === 'true')) {
        kind = 'repeated';
        report('hidden_text', 'hidden', 1);
      } else if (name === 'off' && size && parent === 'xfrm' && !path.includes('grpSp')) {
        isOff = Number(attributes.x) >= size.width || Number(attributes.y) >= size.height;
      } else if (name === 'ext' && size && parent === 'xfrm' && !path.includes('grpSp')) {
        // Its right and lower edge: only what lies wholly beside the slide is not seen.
        isOff ||= beside.x + Number(attributes.cx) <= 0 || beside.y + Number(attributes.cy) <= 0;
      } else if (name === 'ph') {
        if (skipsPlaceholders || REPEATED.includes(type)) kind = 'repeated';
        else if (kind === undefined && (type === 'title' || type === 'ctrTitle')) kind = 'title';
      } else if (name === 't') inText = true;
      else if (name === 'br') stack.text('\n');
      else if (name === 'tbl') stack.openTable();
      else if (name === 'tr') stack.openRow();
      else if (name === 'tc') {
        const { gridSpan, hMerge, vMerge } = attributes;
        if (gridSpan !== undefined) stack.spanCell(Number(gridSpan) || 1);
        if (vMerge === '1') stack.mergeCell(true);
        if (hMerge === '1') stack.coveredCell();
        fill = { colour: undefined, isOwn: true };
      } else if (name === 'p') {
        stack.openParagraph(kind);
        last = '';
      } else if (name === 'r') {
        run = { points: 0, isRaised: false, isStruck: false, target: '' };
        [ink, words] = [undefined, ''];
      } else if (name === 'rPr') {
        run.points = Number(attributes.sz ?? 0) / 100;
        run.isRaised = Number(attributes.baseline ?? 0) > 0;
        run.isStruck = /^(?:sng|dbl)Strike$/.test(attributes.strike ?? '');
      } else if (name === 'hlinkClick') run.target = targets.get(attributes.id ?? '') ?? '';
      else if (parent === 'solidFill' && /^(?:srgbClr|schemeClr|sysClr)$/.test(name)) {
        const colour =
          name === 'srgbClr' ? colourOf(val) : val === 'bg1' || val === 'window' ? WHITE : undefined;
        if (path.at(-3) === 'rPr') ink = colour;
        else if (path.at(-3) === 'spPr') fill = { colour, isOwn: true };
      } else if (name === 'alpha' && ink && path.includes('rPr') && isClear(Number(val) / 100_000))
        ink = { ...ink, alpha: 0 };
      else if (parent === 'spPr' && /^(?:gradFill|blipFill|pattFill)$/.test(name))
        fill = { colour: undefined, isOwn: true };
      else {
        const said = kind === 'repeated' ? '' : pictureWords(name, attributes);
        if (said !== '') paragraphs.push(withoutControls(said));
        const drawing = drawingText(zip, related, name, attributes, report);
        if (drawing) paragraphs.push(withoutControls(drawing));
      }
      if (name === 'off') beside = { x: Number(attributes.x), y: Number(attributes.y) };
    },
    text: (text) => {
      if (inText) write(text);
    },
    close: (name) => {
      path.pop();
      if (name === 't') inText = false;
      else if (name === 'r' && run.target !== '') links?.add(words, run.target);
      else if (name === 'tc') stack.closeCell();
      else if (name === 'tbl') stack.closeTable();
      else if (name === 'p') stack.closeParagraph();
    },
  });
  return {
    heading: oneLine(headings.join(' ')),
    text: paragraphs.filter((line) => line !== '').join('\n'),
    isHidden,
  };
}
