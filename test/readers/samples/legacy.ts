import { CFB, utils, write } from '@e965/xlsx';

/** A workbook of Excel 97 to 2003, or in the binary form of 2007: a sheet with a date, a share, a formula and a comment, and a hidden one. */
export function oldWorkbook(bookType: 'biff8' | 'xlsb'): Buffer {
  const sheet = utils.aoa_to_sheet([
    ['Fund', 'Yield', 'Due'],
    ['Dunmere Growth', 0.075, 46129],
  ]);
  Object.assign(sheet.B2, { z: '0.0%' });
  Object.assign(sheet.C2, { z: 'yyyy-mm-dd' });
  const book = utils.book_new(sheet, 'Ledger');
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Secret price', 12]]), 'Old prices');
  book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }] };
  return write(book, { bookType, type: 'buffer' });
}

/** A compound file of these streams; a slash makes a storage. */
export function compoundFile(streams: Readonly<Record<string, Uint8Array>>): Buffer {
  const file = CFB.utils.cfb_new();
  for (const [path, content] of Object.entries(streams))
    CFB.utils.cfb_add(file, `/${path}`, Buffer.from(content));
  return Buffer.from(CFB.write(file, { type: 'buffer' }));
}

/** Slides of PowerPoint 97 to 2003, with their titles in the list of slides and one more box each. */
export function oldSlides(slides: readonly { title: string; text: string; box: string }[]): Buffer {
  const text = (kind: number, words: string): Buffer =>
    Buffer.concat([record(0, 0, 0x0f9f, number(kind)), record(0, 0, 0x0fa0, Buffer.from(words, 'utf16le'))]);
  const list = slides.flatMap(({ title, text: body }, at) => [
    record(0, 0, 0x03f3, Buffer.concat([number(at), Buffer.alloc(16)])),
    text(0, title),
    text(1, body),
  ]);
  const drawn = slides.map(({ box }) => record(15, 0, 0x03ee, record(15, 0, 0xf00d, text(4, box))));
  const document = record(15, 0, 0x03e8, record(15, 0, 0x0ff0, Buffer.concat(list)));
  return compoundFile({ 'PowerPoint Document': Buffer.concat([document, ...drawn]) });
}

/** A slide of PowerPoint 97 to 2003 with a text, and another text in containers that are nested this deep. */
export function deepSlides(depth: number): Buffer {
  const words = (text: string): Buffer => record(0, 0, 0x0fa0, Buffer.from(text, 'utf16le'));
  let deep = words('Deep.');
  for (let at = 0; at < depth; at++) deep = record(15, 0, 0xf003, deep);
  const slide = record(15, 0, 0x03ee, Buffer.concat([words('Words.'), deep]));
  return compoundFile({ 'PowerPoint Document': slide });
}

/** A mail as Outlook saves it, with a file attached. */
export function outlookMail(mail: {
  subject: string;
  body: string;
  sender: string;
  file: string;
  content: string;
}): Buffer {
  const words = (text: string): Buffer => Buffer.from(text, 'utf16le');
  const properties = Buffer.alloc(32);
  properties.writeUInt32LE(1, 12);
  properties.writeUInt32LE(1, 20);
  const attached = '__attach_version1.0_#00000000';
  return compoundFile({
    '__properties_version1.0': properties,
    '__substg1.0_0037001F': words(mail.subject),
    '__substg1.0_1000001F': words(mail.body),
    '__substg1.0_0C1A001F': words(mail.sender),
    [`${attached}/__properties_version1.0`]: Buffer.alloc(8),
    [`${attached}/__substg1.0_3707001F`]: words(mail.file),
    [`${attached}/__substg1.0_37010102`]: Buffer.from(mail.content),
  });
}

/** A record of PowerPoint's: version, instance, type, length, content (MS-PPT 2.3.1). */
function record(version: number, instance: number, type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(version | (instance << 4), 0);
  head.writeUInt16LE(type, 2);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
