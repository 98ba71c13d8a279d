import { existsSync, readFileSync } from 'node:fs';
import { strToU8, zipSync } from 'fflate';
import t from 'tap';
import { tableText } from '../../../src/readers/text/table.ts';
import { openBytes, readBytes, recognisedType } from '../../rig/readers.ts';

const SAMPLES = '../shared/data/samples/office';
const needsShared = existsSync(SAMPLES) ? false : 'the shared sample files are not here';

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

t.test('a text document gives its sections, tables and pictures', { skip: needsShared }, async (t) => {
  const bytes = readFileSync(`${SAMPLES}/test.docx`);
  const { fileInfo, blocks, pictures } = await readBytes(bytes);
  t.match(fileInfo, { kind: 'document', title: /^AutoGen/ });
  t.match(blocks[1], { text: /^Abstract\n\nAutoGen is an open-source framework/ });
  t.ok(
    blocks.every(({ page }) => page === undefined),
    'it has no pages',
  );
  t.equal(pictures.length, 1);
});

t.test('slides and sheets have numbers and titles', { skip: needsShared }, async (t) => {
  const slides = await readBytes(readFileSync(`${SAMPLES}/test.pptx`));
  t.match(slides.fileInfo, { pages: 6, pageKind: 'slide' });
  t.match(slides.blocks[2], {
    page: 3,
    heading: 'A table to test parsing:',
    text: /\| ColA: 7 \| ColB: 8/,
  });
  t.ok(slides.pictures.every(({ page = 0 }) => page >= 1));
  const sheets = await readBytes(readFileSync(`${SAMPLES}/test.xlsx`));
  t.match(sheets.fileInfo, { pages: 2, pageKind: 'sheet' });
  t.match(sheets.blocks[1], { page: 2, heading: /^09060124/, text: /ColD: affc7dad/ });
});

t.test('a book gives its chapters in order', { skip: needsShared }, async (t) => {
  const book = await readBytes(readFileSync(`${SAMPLES}/test.epub`));
  t.match(book.fileInfo, {
    pages: 3,
    pageKind: 'chapter',
    title: 'Test EPUB Document',
  });
  t.match(book.blocks[2], { page: 3, heading: /Chapter 2/ });
});

t.test('OpenDocument gives sections, sheets and slides', async (t) => {
  const xml = (body: string) =>
    `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d">${body}</office:document-content>`;
  const type = 'application/vnd.oasis.opendocument';
  const text = zipOf({
    mimetype: `${type}.text`,
    'content.xml': xml(
      '<text:h text:outline-level="1">Boats</text:h><text:p>Rowing.</text:p><text:h text:outline-level="2">Oars</text:h><text:p>Two<text:s/>of <text:span>them</text:span>.</text:p>',
    ),
  });
  t.match(await readBytes(text), {
    title: 'Boats',
    blocks: [{ text: 'Rowing.' }, { heading: 'Oars', text: /Two of them\./ }],
  });
  const sheet = zipOf({
    mimetype: `${type}.spreadsheet`,
    'content.xml': xml(
      '<table:table table:name="Prices"><table:table-row><table:table-cell><text:p>Fish</text:p></table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Cod</text:p></table:table-cell><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table>',
    ),
  });
  t.match(await readBytes(sheet), {
    fileInfo: { pages: 1, pageKind: 'sheet' },
    blocks: [{ page: 1, heading: 'Prices', text: '| Fish | Price\n| Fish: Cod | Price: 7' }],
  });
  const slides = zipOf({
    mimetype: `${type}.presentation`,
    'content.xml': xml(
      '<draw:page draw:name="One"><text:p>First</text:p></draw:page><draw:page draw:name="Two"><text:p>Second</text:p></draw:page>',
    ),
  });
  t.match(await readBytes(slides), {
    fileInfo: { pages: 2, pageKind: 'slide' },
    blocks: [{ page: 1 }, { page: 2, heading: 'Two', text: 'Second' }],
  });
});

t.test('a paragraph stays whole: notes and text boxes inside it come after it', async (t) => {
  const ODF = 'application/vnd.oasis.opendocument';
  const odf = (kind: string, body: string) =>
    zipOf({
      mimetype: `${ODF}.${kind}`,
      'content.xml': `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:svg="s" xmlns:dc="c">${body}</office:document-content>`,
    });
  const cell = (inside: string) => `<table:table-cell>${inside}</table:table-cell>`;
  const textOf = async (bytes: Uint8Array) => (await readBytes(bytes)).blocks.map(({ text }) => text);
  t.same(
    await textOf(
      odf(
        'text',
        '<text:tracked-changes><text:p>Taken back.</text:p></text:tracked-changes><text:p>The lighthouse stands on a rock<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A footnote.</text:p></text:note-body></text:note> since 1850.</text:p><text:p>Seen<draw:frame><svg:desc>A tower</svg:desc><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame> from afar<office:annotation><dc:creator>Ada</dc:creator><text:p>How far?</text:p></office:annotation>.</text:p>',
      ),
    ),
    [
      'The lighthouse stands on a rock since 1850.\n\nA footnote.\n\nSeen from afar.\n\nA tower\n\nBoxed\n\nHow far?',
    ],
  );
  const inner = `<table:table><table:table-row>${cell('<text:p>red</text:p>')}${cell('<text:p>white</text:p>')}</table:table-row></table:table>`;
  const nested = `<table:table><table:table-row>${cell('<text:p>1</text:p>')}${cell('<text:p>2</text:p>')}</table:table-row><table:table-row>${cell('<text:p>3</text:p>')}${cell(`<text:p>four</text:p>${inner}<text:p>after</text:p>`)}</table:table-row></table:table>`;
  t.same(await textOf(odf('text', nested)), ['| 1 | 2\n| 3 | four red white after']);
  t.match(await readBytes(odf('spreadsheet', nested)), {
    fileInfo: { pages: 1 },
    blocks: [{ text: '| 1 | 2\n| 3 | four red white after' }],
  });

  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const box = `<w:txbxContent>${paragraph('Boxed')}</w:txbxContent>`;
  const parts = (body: string, others: Record<string, string> = {}) =>
    zipOf({
      'word/document.xml': `<w:document xmlns:w="w" xmlns:mc="m"><w:body>${body}</w:body></w:document>`,
      ...others,
    });
  t.same(
    await textOf(
      parts(
        `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>${run('Boats')}</w:p><w:p>${run('Before the box,')}<mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent>${run(' after the box.')}</w:p>`,
      ),
    ),
    ['Before the box, after the box.\n\nBoxed'],
  );
  const note = (kind: string, id: number, text: string) =>
    `<w:${kind} w:id="${id}">${paragraph(text)}</w:${kind}>`;
  const refer = (kind: string, id: number) => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`;
  t.same(
    await textOf(
      parts(
        `<w:p>${run('On a rock')}${refer('footnote', 2)}${run(' since 1850')}${refer('endnote', 2)}${run('.')}${refer('footnote', 2)}</w:p><w:moveFrom>${paragraph('Moved.')}</w:moveFrom><w:moveTo>${paragraph('Moved.')}</w:moveTo>`,
        {
          'word/footnotes.xml': `<w:footnotes xmlns:w="w"><w:footnote w:id="-1">${paragraph('___')}</w:footnote>${note('footnote', 2, 'A footnote.')}</w:footnotes>`,
          'word/endnotes.xml': `<w:endnotes xmlns:w="w">${note('endnote', 2, 'An endnote.')}</w:endnotes>`,
        },
      ),
    ),
    ['On a rock since 1850.\n\nA footnote.\n\nAn endnote.\n\nMoved.'],
  );
});

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
  const inDocument = docx(
    '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Fish</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Price</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>Cod</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>7</w:t></w:r></w:p></w:tc></w:tr></w:tbl>',
  );
  t.match((await readBytes(inDocument)).blocks, [{ text: /\| Fish: Cod \| Price: 7/ }]);
});

t.test('entities that a file defines are neither expanded nor fetched', async (t) => {
  const bomb =
    '<!DOCTYPE w:document [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/hostname">]>';
  const { blocks } = await readBytes(docx(paragraph('Before &b;&x; after'), bomb));
  t.equal(blocks.length, 1);
  t.notMatch(blocks[0]!.text, /ha/);
  t.match(blocks[0]!.text, /^Before .*after$/);
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

t.test(
  'a spreadsheet without texts in its cells shows their values, and tells formulas without one',
  async (t) => {
    const type = 'application/vnd.oasis.opendocument.spreadsheet';
    const cells = [
      'office:value-type="float" office:value="99.25"',
      'office:value-type="percentage" office:value="0.07"',
      'office:value-type="currency" office:value="12.5" office:currency="EUR"',
      'office:value-type="date" office:date-value="2024-03-05"',
      'office:value-type="time" office:time-value="PT7H05M00S"',
      'office:value-type="boolean" office:boolean-value="true"',
      'office:value-type="string" office:string-value="keel"',
      'table:formula="of:=1+1"',
      '',
    ];
    const row = cells.map((attributes) => `<table:table-cell ${attributes}/>`).join('');
    const sheet = zipOf({
      mimetype: type,
      'content.xml': `<office:document-content xmlns:office="o" xmlns:table="b"><table:table table:name="Values"><table:table-row>${row}</table:table-row></table:table></office:document-content>`,
    });
    t.match(await readBytes(sheet), {
      blocks: [{ text: '| 99.25 | 7% | 12.5 EUR | 2024-03-05 | 07:05:00 | true | keel | of:=1+1' }],
      notRead: [{ what: 'formulas', count: 1, why: 'no_value' }],
    });
  },
);

t.test('headers and footers of sheets are read once, without their codes', async (t) => {
  const of = (text: string) =>
    `<x:worksheet xmlns:x="x"><x:sheetData><x:row><x:c r="A1"><x:v>7</x:v></x:c></x:row></x:sheetData><x:headerFooter><x:oddHeader>${text}</x:oddHeader><x:oddFooter>&amp;CPage &amp;P of &amp;N</x:oddFooter></x:headerFooter></x:worksheet>`;
  const header =
    '&amp;L&amp;&quot;Arial,Bold&quot;&amp;14Binnacle &amp;amp;&amp; Sons&amp;R&amp;K00FF00&amp;D'.replace(
      '&amp;amp;&amp;',
      '&amp;&amp;',
    );
  const book = zipOf({
    'xl/workbook.xml':
      '<workbook><sheets><sheet name="S" r:id="r1"/><sheet name="T" r:id="r2"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<R><Relationship Id="r1" Target="worksheets/s.xml"/><Relationship Id="r2" Target="worksheets/t.xml"/></R>',
    'xl/worksheets/s.xml': of(header),
    'xl/worksheets/t.xml': of(header),
  });
  const { blocks } = await readBytes(book);
  t.match(blocks.find(({ heading }) => heading === 'Header and footer')?.text, 'Binnacle & Sons\nPage of');
});

t.test('a mark of a note stands apart from its word', async (t) => {
  const { blocks } = await readBytes(
    Buffer.from(
      '<!doctype html><html xmlns:epub="e"><body><p>The leech<a epub:type="noteref" href="#a">1</a> and luff<a role="doc-noteref" href="#b">2</a>.</p></body></html>',
    ),
  );
  t.match(blocks.map(({ text }) => text).join('\n'), 'The leech [1] and luff [2].');
});
