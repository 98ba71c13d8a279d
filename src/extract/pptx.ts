import type { Block } from '../domain/document.ts';
import { withoutControls } from './charset.ts';
import {
  type EmbeddedPicture,
  type OfficeContent,
  picturesOf,
  relationships,
  titleIn,
} from './office-content.ts';
import { shorten } from './outline.ts';
import { corrupt } from './refusal.ts';
import { tableText } from './table.ts';
import { walkXml } from './xml.ts';
import type { Zip } from './zip.ts';

const MAIN = 'ppt/presentation.xml';

/** PresentationML (ECMA-376 part 1, 19): each slide with its title as heading, its text, tables, notes and pictures. */
export function readPptx(zip: Zip): OfficeContent {
  const source = zip.text(MAIN);
  if (source === undefined) throw corrupt('the list of its slides is missing');
  const targets = relationships(zip, MAIN);
  const slides: string[] = [];
  walkXml(source, {
    open: (name, { id }) => {
      // Two attributes are called id, one with a prefix; the later one wins, which is the relationship's.
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
  return { blocks, pictures, pages: slides.length, ...(title !== undefined && { title }) };
}

function readSlide(source: string): { heading: string; text: string } {
  const paragraphs: string[] = [];
  const headings: string[] = [];
  let [paragraph, inText, isTitle, skipped] = ['', false, false, false];
  let rows: string[][] | undefined;
  if (source === '') return { heading: '', text: '' };
  walkXml(source, {
    open: (name, { type = '' }) => {
      if (name === 'sp') [isTitle, skipped] = [false, false];
      else if (name === 'ph') {
        isTitle = type === 'title' || type === 'ctrTitle';
        skipped = ['sldNum', 'dt', 'ftr', 'hdr'].includes(type);
      } else if (name === 't') inText = true;
      else if (name === 'br') paragraph += '\n';
      else if (name === 'tbl') rows = [];
      else if (name === 'tr') rows?.push([]);
      else if (name === 'tc' || (name === 'p' && !rows)) paragraph = '';
    },
    text: (text) => {
      if (inText) paragraph += text;
    },
    close: (name) => {
      if (name === 't') inText = false;
      else if (name === 'tc') rows?.at(-1)?.push(paragraph.trim());
      else if (name === 'tbl') {
        paragraphs.push(tableText(rows ?? []));
        rows = undefined;
      } else if (name === 'p' && rows) paragraph += ' ';
      else if (name === 'p' && !skipped)
        (isTitle ? headings : paragraphs).push(withoutControls(paragraph).trim());
    },
  });
  return {
    heading: shorten(headings.join(' '), 200),
    text: paragraphs.filter((line) => line !== '').join('\n'),
  };
}
