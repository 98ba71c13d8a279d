import type { Zip } from '../archive/zip.ts';
import { corrupt } from '../reading/refusal.ts';
import { Outline } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import { officeReader } from './office.ts';
import { type OfficeContent, picturesOf, relationships, titleIn } from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

export const docx = officeReader(readDocx);

const MAIN = 'word/document.xml';

/** Parts with notes, the element that holds a note there, and the one that refers to it in the main part. */
const NOTES = [
  ['word/footnotes.xml', 'footnote', 'footnoteReference'],
  ['word/endnotes.xml', 'endnote', 'endnoteReference'],
] as const;

/** WordprocessingML (ECMA-376 part 1, 17): paragraphs below their headings, each followed by its notes; tables by rows; pictures. */
function readDocx(zip: Zip): OfficeContent {
  const source = zip.text(MAIN);
  if (source === undefined) throw corrupt('its text is missing');
  const levels = headingLevels(zip.text('word/styles.xml'));
  const notes = new Map(
    NOTES.flatMap(([part, element, reference]) => notesOf(zip, part, element, reference)),
  );
  const outline = new Outline(titleIn(zip.text('docProps/core.xml')));
  const stack = new ParagraphStack<number>((text, level) => {
    if (level === undefined) outline.paragraph(text);
    else outline.heading(level, text);
  });
  walkParagraphs(source, MAIN, stack, (name, { val, id }) => {
    if (name === 'pStyle') {
      const level = levels.get(val ?? '');
      if (level !== undefined) stack.setKind(level);
    }
    const note = `${name} ${id}`;
    for (const text of notes.get(note) ?? []) stack.aside(text);
    // Once: a file could grow without end by references to one long note.
    notes.delete(note);
  });
  return { ...outline.finish(), pictures: picturesOf(zip, relationships(zip, MAIN).values()) };
}

/** Paragraphs of each note in a part, by the reference to it. */
function notesOf(zip: Zip, part: string, element: string, reference: string): [string, string[]][] {
  const source = zip.text(part);
  const found: [string, string[]][] = [];
  if (source === undefined) return found;
  const stack = new ParagraphStack<number>((text) => found.at(-1)?.[1].push(text));
  walkParagraphs(source, part, stack, (name, { id }) => {
    if (name === element) found.push([`${reference} ${id}`, []]);
  });
  return found;
}

/** Gives paragraphs and tables to the stack. Left out: the old place of moved text, and copies for older programs. */
function walkParagraphs(
  source: string,
  part: string,
  stack: ParagraphStack<number>,
  onOther: (name: string, attributes: Readonly<Record<string, string>>) => void,
): void {
  let inText = false;
  walkXml(
    source,
    {
      skips: (name) => name === 'Fallback' || name === 'moveFrom',
      open: (name, attributes) => {
        if (name === 't') inText = true;
        else if (name === 'p') stack.openParagraph();
        else if (name === 'tab') stack.text(' ');
        else if (name === 'br' || name === 'cr') stack.text('\n');
        else if (name === 'tbl') stack.openTable();
        else if (name === 'tr') stack.openRow();
        else onOther(name, attributes);
      },
      text: (text) => {
        if (inText) stack.text(text);
      },
      close: (name) => {
        if (name === 't') inText = false;
        else if (name === 'p') stack.closeParagraph();
        else if (name === 'tc') stack.closeCell();
        else if (name === 'tbl') stack.closeTable();
      },
    },
    part,
  );
}

/** Levels of heading styles by their ids. Ids differ by language, names do not. */
function headingLevels(source: string | undefined): Map<string, number> {
  const levels = new Map<string, number>([['Title', 0]]);
  for (let level = 1; level <= 9; level++) levels.set(`Heading${level}`, level);
  if (source === undefined) return levels;
  let id = '';
  walkXml(source, {
    open: (name, attributes) => {
      if (name === 'style') id = attributes.styleId ?? '';
      if (name !== 'name' || id === '') return;
      const heading = /^heading (\d)$/i.exec(attributes.val ?? '')?.[1];
      if (heading) levels.set(id, Number(heading));
      else if (/^title$/i.test(attributes.val ?? '')) levels.set(id, 0);
    },
  });
  return levels;
}
