import type { Block } from '@farthing/protocol/document';
import { documentPart, type Relationship, relationships, targetsOf } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { corrupt } from '../reading/refusal.ts';
import { withoutControls } from '../text/charset.ts';
import { oneLine, shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import { drawingText } from './drawings.ts';
import { officeReader } from './office.ts';
import {
  type Attachment,
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
  walkXml(source, {
    open: (name, { id }) => {
      // Two attributes are called id, one of them with a prefix. The later one wins: the relationship's.
      const target = name === 'sldId' && id !== undefined ? targets.get(id) : undefined;
      if (target) slides.push(target);
    },
  });
  const blocks: Block[] = [];
  const pictures: EmbeddedPicture[] = [];
  const attachments: Attachment[] = [];
  const shown = new Set<string>();
  for (const [index, slide] of slides.entries()) {
    const page = index + 1;
    const related = relationships(zip, slide);
    const { heading, text, isHidden } = readSlide(zip, slide, related, report);
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
  const title = titleIn(zip.text('docProps/core.xml'));
  return {
    blocks,
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
  return readSlide(zip, part, relationships(zip, part), report, ALL_PLACEHOLDERS).text;
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

/** For `readSlide`: no placeholder has text of its own. */
const ALL_PLACEHOLDERS = true;

type Kind = 'title' | 'repeated';

function readSlide(
  zip: Zip,
  part: string,
  related: readonly Relationship[],
  report: Report,
  skipsPlaceholders = false,
): { heading: string; text: string; isHidden: boolean } {
  const paragraphs: string[] = [];
  const headings: string[] = [];
  const stack = new ParagraphStack<Kind>((text, kind) => {
    if (kind !== 'repeated') (kind === 'title' ? headings : paragraphs).push(withoutControls(text).trim());
  });
  let kind: Kind | undefined;
  let [inText, isHidden] = [false, false];
  const source = zip.text(part);
  if (source === undefined) return { heading: '', text: '', isHidden };
  walkXml(source, {
    // A copy for older programs.
    skips: (name) => name === 'Fallback',
    open: (name, attributes) => {
      const { type = '' } = attributes;
      if (name === 'sld') isHidden = attributes.show === '0' || attributes.show === 'false';
      else if (name === 'sp') kind = undefined;
      else if (name === 'cNvPr' && (attributes.hidden === '1' || attributes.hidden === 'true')) {
        kind = 'repeated';
        report('hidden_text', 'hidden', 1);
      } else if (name === 'ph') {
        if (skipsPlaceholders || REPEATED.includes(type)) kind = 'repeated';
        else if (kind === undefined && (type === 'title' || type === 'ctrTitle')) kind = 'title';
      } else if (name === 't') inText = true;
      else if (name === 'br') stack.text('\n');
      else if (name === 'tbl') stack.openTable();
      else if (name === 'tr') stack.openRow();
      else if (name === 'p') stack.openParagraph(kind);
      else {
        const drawing = drawingText(zip, related, name, attributes, report);
        if (drawing) paragraphs.push(withoutControls(drawing));
      }
    },
    text: (text) => {
      if (inText) stack.text(text);
    },
    close: (name) => {
      if (name === 't') inText = false;
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
