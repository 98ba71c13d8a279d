import WordExtractor from 'word-extractor';
import { contentReader } from '../office/office.ts';
import type { OfficeContent, Report } from '../office/office-content.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt, encrypted } from '../reading/refusal.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { withoutControls } from '../text/charset.ts';
import { readPlain } from '../text/plain.ts';
import { compoundOf, hasStream, streamOf } from './compound.ts';

const MAIN = 'WordDocument';
/** The file information block (MS-DOC 2.5.1): bits at this place, one of which says that the text is encrypted. */
const FLAGS_AT = 0x0a;
const ENCRYPTED = 0x0100;

/** Word 97 to 2003: text, notes, comments, headers, footers and text boxes. Not read: headings, pictures, objects. */
export const doc: MakeReader = (mediaType) =>
  contentReader(mediaType, { sniff: (file) => hasStream(file, [MAIN]), read: readDoc });

async function readDoc(file: SourceFile, report: Report): Promise<OfficeContent> {
  const compound = file.find(compoundOf);
  const main = compound && streamOf(compound, MAIN);
  if (!main || main.length <= FLAGS_AT + 1) throw corrupt('its text is missing');
  if ((main[FLAGS_AT]! | (main[FLAGS_AT + 1]! << 8)) & ENCRYPTED) throw encrypted('document');
  const document = await new WordExtractor().extract(Buffer.from(file.bytes)).catch(() => {
    throw corrupt('it is no Word document that can be read');
  });
  const clean = (text: string): string => withoutControls(text).trim();
  const { title, blocks } = readPlain(clean(document.getBody()));
  const beside = [
    ...[document.getFootnotes(), document.getEndnotes(), document.getTextboxes()].map(clean),
    ...clean(document.getAnnotations())
      .split('\n')
      .filter(Boolean)
      .map((text) => `Comment: ${text}`),
  ].filter((text) => text !== '');
  const repeated = clean(document.getHeaders());
  report('pictures', 'unsupported');
  return {
    ...(title !== undefined && { title }),
    blocks: [
      ...blocks,
      ...(beside.length > 0 ? [{ text: beside.join('\n\n') }] : []),
      ...(repeated === '' ? [] : [{ text: repeated, heading: 'Header and footer' }]),
    ],
    pictures: [],
  };
}
