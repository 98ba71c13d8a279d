import {
  documentPart,
  linksOf,
  type Relationship,
  relationships,
  targetsOf,
} from '../archive/relationships.ts';
import { Zip } from '../archive/zip.ts';
import { corrupt } from '../reading/refusal.ts';
import { readHtml } from '../text/html.ts';
import { checkHtml } from '../text/html-limits.ts';
import { Links } from '../text/links.ts';
import { Outline, shorten } from '../text/outline.ts';
import { readPlain } from '../text/plain.ts';
import { readRtf } from '../text/rtf.ts';
import type { TextContents } from '../text/text-format.ts';
import { Numbering } from './docx-numbering.ts';
import { type DocxStyles, docxStyles } from './docx-styles.ts';
import { type OnElement, walkParagraphs } from './docx-text.ts';
import { drawingText } from './drawings.ts';
import { officeReader } from './office.ts';
import {
  aboutIn,
  attachmentsOf,
  type OfficeContent,
  picturesOf,
  type Report,
  titleIn,
} from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

export const docx = officeReader((zip, report) => readDocx(zip, report));

/** The part of notes, the element that holds one there, and the one that refers to it in the main part. */
const NOTES = [
  ['footnotes', 'footnote', 'footnoteReference'],
  ['endnotes', 'endnote', 'endnoteReference'],
  ['comments', 'comment', 'commentReference'],
] as const;

/** Documents inside a document's text (`altChunk`), one in the other. */
const CHUNKS_DEEP_MAX = 2;

/**
 * WordprocessingML (ECMA-376 part 1, 17): paragraphs below their headings, each followed by its notes, comments and text boxes;
 * tables by rows; headers and footers, once each; pictures.
 */
function readDocx(zip: Zip, report: Report, deep = 0): OfficeContent {
  const main = documentPart(zip) ?? 'word/document.xml';
  const source = zip.text(main);
  if (source === undefined) throw corrupt('its text is missing');
  const related = relationships(zip, main);
  const partOf = (type: string): string => targetsOf(related, type)[0] ?? `word/${type}.xml`;
  const styles = docxStyles(zip.text(partOf('styles')));
  const numbering = new Numbering(zip.text(partOf('numbering')), report);
  const notes = new Map(
    NOTES.flatMap(([type, element, reference]) =>
      notesOf(zip, partOf(type), { element, reference, styles, report }),
    ),
  );
  const links = new Links();
  const core = zip.text('docProps/core.xml');
  const outline = new Outline(titleIn(core));
  const stack = new ParagraphStack<number>((text, level) => {
    if (level === undefined) outline.paragraph(text);
    else outline.heading(level, text);
  });
  const onElement: OnElement = (name, attributes) => {
    const note = `${name} ${attributes.id}`;
    for (const text of notes.get(note) ?? []) stack.aside(text);
    // Once: a file could grow without end by references to one long note.
    notes.delete(note);
    const drawing = drawingText(zip, related, name, attributes, report);
    if (drawing) stack.aside(drawing);
    if (name === 'altChunk')
      for (const text of chunkTexts(zip, related, attributes.id, report, deep)) outline.paragraph(text);
  };
  const targets = linksOf(zip, main);
  walkParagraphs(source, main, stack, { styles, numbering, report, onElement, links, targets });
  for (const [reference, texts] of notes)
    if (reference.startsWith('commentReference')) for (const text of texts) outline.paragraph(text);
  const { blocks, ...rest } = outline.finish();
  const repeated = headersOf(zip, related, styles, report);
  return {
    ...rest,
    blocks: [
      ...blocks,
      ...(repeated === '' ? [] : [{ text: repeated, heading: 'Header and footer' }]),
      ...links.blocks(blocks),
      ...aboutIn(core),
    ],
    pictures: picturesOf(
      zip,
      related.map(({ target }) => target),
      report,
    ),
    attachments: attachmentsOf(zip, related, report),
  };
}

/** Paragraphs of each note in a part, by the reference to it. A comment says whose it is. */
function notesOf(
  zip: Zip,
  part: string,
  {
    element,
    reference,
    styles,
    report,
  }: { element: string; reference: string; styles: DocxStyles; report: Report },
): [string, string[]][] {
  const source = zip.text(part);
  const found: [string, string[]][] = [];
  if (source === undefined) return found;
  let author = '';
  const stack = new ParagraphStack<number>((text) => {
    const whose = author === '' ? text : `Comment by ${author}: ${text}`;
    if (text.trim() !== '') found.at(-1)?.[1].push(whose);
  });
  walkParagraphs(source, part, stack, {
    styles,
    report,
    onElement: (name, attributes) => {
      if (name !== element) return;
      found.push([`${reference} ${attributes.id}`, []]);
      author = shorten(attributes.author ?? '', 100, report);
    },
  });
  return found;
}

/** The texts of all headers and footers, each once. */
function headersOf(zip: Zip, related: readonly Relationship[], styles: DocxStyles, report: Report): string {
  const texts = new Set<string>();
  for (const part of ['header', 'footer'].flatMap((type) => targetsOf(related, type))) {
    const source = zip.text(part);
    if (source === undefined) continue;
    const stack = new ParagraphStack<number>((text) => texts.add(text.trim()));
    walkParagraphs(source, part, stack, { styles, report });
  }
  // A number alone is that of some page.
  return [...texts].filter((text) => /\p{L}/u.test(text)).join('\n');
}

/** The paragraphs of a document that is taken into the text as it is. */
function chunkTexts(
  zip: Zip,
  related: readonly Relationship[],
  id: string | undefined,
  report: Report,
  deep: number,
): string[] {
  const target = related.find((relationship) => relationship.id === id)?.target;
  const bytes = target === undefined ? undefined : zip.read(target);
  const start = Buffer.from(bytes?.subarray(0, 512) ?? []).toString('latin1');
  const refused = !bytes || deep >= CHUNKS_DEEP_MAX || /^(MIME-Version|From|Content-Type):/im.test(start);
  if (refused) {
    report('attachments', bytes ? 'unsupported' : 'damaged', 1);
    return [];
  }
  const { title, blocks, notRead = [] } = chunkContent(bytes, start, report, deep);
  for (const { what, why, count } of notRead) report(what, why, count);
  return [...(title === undefined ? [] : [title]), ...blocks.map(({ text }) => text)];
}

function chunkContent(
  bytes: Uint8Array,
  start: string,
  report: Report,
  deep: number,
): Pick<TextContents, 'title' | 'notRead'> & Pick<OfficeContent, 'blocks'> {
  if (start.startsWith('PK')) return readDocx(new Zip(bytes), report, deep + 1);
  if (start.startsWith('{\\rtf')) return readRtf(Buffer.from(bytes).toString('latin1'));
  const text = new TextDecoder().decode(bytes);
  if (!/<(!doctype|html|body|p|div|h\d|table)\b/i.test(start)) return readPlain(text);
  checkHtml(text);
  return readHtml(text);
}
