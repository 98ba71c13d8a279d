import type { Block } from '../../domain/document.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { corrupt } from '../reading/refusal.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import { officeReader } from './office.ts';
import { type OfficeContent, picturesOf, relationships, titleIn } from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

export const pptx = officeReader(readPptx);

const MAIN = 'ppt/presentation.xml';

/** PresentationML (ECMA-376 part 1, 19): each slide with its title as heading, its text, tables, notes and pictures. */
function readPptx(zip: Zip): OfficeContent {
  const source = zip.text(MAIN);
  if (source === undefined) throw corrupt('the list of its slides is missing');
  const targets = relationships(zip, MAIN);
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
  for (const [index, slide] of slides.entries()) {
    const page = index + 1;
    const related = [...relationships(zip, slide).values()];
    const { heading, text } = readSlide(zip.text(slide) ?? '');
    const notes = related
      .filter((name) => /notesSlides\//.test(name))
      .map((name) => readSlide(zip.text(name) ?? '').text);
    const whole = [heading, text, ...notes].filter((part) => part !== '').join('\n\n');
    if (whole !== '') blocks.push({ text: whole, page, ...(heading !== '' && { heading }) });
    pictures.push(...picturesOf(zip, related, page));
  }
  const title = titleIn(zip.text('docProps/core.xml'));
  return { blocks, pictures, pages: slides.length, pageKind: 'slide', ...(title !== undefined && { title }) };
}

/** Placeholders that repeat on every slide: number, date, footer, header. */
const REPEATED = ['sldNum', 'dt', 'ftr', 'hdr'];

function readSlide(source: string): { heading: string; text: string } {
  const paragraphs: string[] = [];
  const headings: string[] = [];
  const stack = new ParagraphStack<'title' | 'repeated'>((text, kind) => {
    if (kind !== 'repeated') (kind === 'title' ? headings : paragraphs).push(withoutControls(text).trim());
  });
  let kind: 'title' | 'repeated' | undefined;
  let inText = false;
  if (source === '') return { heading: '', text: '' };
  walkXml(source, {
    // A copy for older programs.
    skips: (name) => name === 'Fallback',
    open: (name, { type = '' }) => {
      if (name === 'sp') kind = undefined;
      else if (name === 'ph') {
        if (type === 'title' || type === 'ctrTitle') kind = 'title';
        else kind = REPEATED.includes(type) ? 'repeated' : undefined;
      } else if (name === 't') inText = true;
      else if (name === 'br') stack.text('\n');
      else if (name === 'tbl') stack.openTable();
      else if (name === 'tr') stack.openRow();
      else if (name === 'p') stack.openParagraph(kind);
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
    heading: shorten(headings.join(' '), 200),
    text: paragraphs.filter((line) => line !== '').join('\n'),
  };
}
