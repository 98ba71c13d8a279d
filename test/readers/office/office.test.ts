import { strToU8, zipSync } from 'fflate';
import t from 'tap';
import { tableText } from '../../../src/readers/text/table.ts';
import { openBytes, recognisedType } from '../../rig/readers.ts';

function zipOf(parts: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));
}

function docx(body: string, doctype = ''): Uint8Array {
  return zipOf({
    'word/document.xml': `<?xml version="1.0"?>${doctype}<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
  });
}

const paragraph = (text: string, style = '') =>
  `<w:p>${style && `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;

t.test('a row of a table says what its values are', async (t) => {
  t.equal(
    tableText([
      ['Name', 'Age'],
      ['Ada', '36'],
      ['', ''],
    ]),
    '| Name | Age\n| Name: Ada | Age: 36',
  );
  t.equal(
    tableText([
      ['1', '2'],
      ['3', '4'],
    ]),
    '| 1 | 2\n| 3 | 4',
    'numbers name nothing',
  );
  t.equal(tableText([]), '');
});

t.test('damage, encryption and false sizes have their codes', async (t) => {
  const whole = docx(paragraph('Words of a page'.repeat(40)));
  for (let tenth = 1; tenth < 10; tenth++)
    await t.rejects(recognisedType(whole.subarray(0, (whole.length * tenth) / 10)), {
      code: 'file_corrupt',
    });
  await t.rejects(openBytes(docx('<w:p><w:r>')), { code: 'file_corrupt' });
  const locked = Buffer.from(whole);
  const entry = locked.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'));
  locked[entry + 8]! |= 1;
  await t.rejects(recognisedType(locked), { code: 'file_encrypted' });
  const compound = Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(600),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);
  await t.rejects(recognisedType(compound), { code: 'file_encrypted' });
  const bomb = Buffer.from(whole);
  bomb.writeUInt32LE(300 * 2 ** 20, entry + 24);
  await t.rejects(openBytes(bomb), { code: 'document_too_large', facts: { limit_bytes: 256 * 2 ** 20 } });
  t.equal(await recognisedType(zipOf({ '../../etc/passwd': 'x' })), 'application/zip');
  await t.rejects(recognisedType(zipOf({ 'META-INF/MANIFEST.MF': 'x' })), {
    code: 'media_type_unsupported',
    facts: { media_type: 'application/java-archive' },
  });
  await t.rejects(openBytes(docx('')), { code: 'file_empty' });
});
