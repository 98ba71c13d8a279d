import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readBytes, unpackBytes } from '../../rig/readers.ts';
import { zipOf } from '../samples/archives.ts';

/**
 * Small files that say in their names what is hard about them, or what other systems got wrong: what must be found, in this order, what
 * must not, and what is told as not read.
 */
interface Case {
  readonly says?: readonly (string | RegExp)[];
  readonly hides?: readonly string[];
  /** Each: what, why, how many. */
  readonly notRead?: readonly string[];
  readonly pages?: number;
}

/** Of Office before 2007. */
const OLD = ['pictures unsupported -', 'charts unsupported -'];

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  docx: {
    'altchunk.docx': { says: ['The Marrowby orchard lost forty trees'] },
    'comments.docx': { says: [/Comment by Tamsin Orrell: Quillon wants this penalty halved/] },
    'document2.docx': { says: ['The Vexelby ferry leaves'] },
    'headerfooter.docx': { says: ['Brunnhofer Kesselbau GmbH', 'Our reference QF-88231'] },
    'hidden.docx': {
      says: ['485,000 crowns'],
      hides: ['one crown'],
      notRead: ['hidden_text hidden 1'],
    },
    'nobreakhyphen.docx': { says: ['Spare part KX-4417', 'began 1-24 hours'] },
    'sym.docx': { says: ['40°C', 'Left Right', 'Vertragsstrafe'] },
  },
  xlsx: {
    'capital-shared.xlsx': { says: ['The Pilsworth barge carries slate | 5'] },
    'formula.xlsx': { says: ['Gross: =B2+C2'], notRead: ['formulas no_value 1'] },
    'formulas-only.xlsx': {
      says: ['=TODAY() | =1+2'],
      notRead: ['formulas no_value 2'],
    },
    'note.xlsx': { says: ['Comment on B1 by Ilse: Disputed by Wexcombe'] },
    'percent.xlsx': { says: ['Yield: 7.50% | Price: $1,234.50', 'Yield: 30.00%'] },
    'phonetic.xlsx': { says: ['品名: 青銅の鐘 | 個数: 41'], hides: ['ヒンメイ'] },
    'phonetic-percent-comment.xlsx': {
      says: ['Share: 25.75%', 'Sum: 0.3', 'Comment on A2 by me: Zymurgy audit pending'],
      notRead: ['formulas no_value 2'],
    },
    'titlerow.xlsx': { says: ['Sales of the northern depots', 'Depot: Skarvik | Lanterns: 118 | Ropes: 64'] },
    'tool-openpyxl.xlsx': {
      says: [
        'Rate: 21% | Tax: =B2*C2 | Due: 2026-04-17',
        'Comment on B2 by Clerk: Agreed',
        'Ingleborough drum',
      ],
      notRead: ['formulas no_value 1'],
    },
    'x000d.xlsx': { says: ['Delivered to Fennimore Gate three Ring twice'] },
  },
  pdf: {
    'annotation.pdf': {
      says: ['Note by Reviewer: Gwendolyn objects', 'Note: Approved by Chancellor Ormerod'],
    },
    'annotation-and-attachment.pdf': { says: ['Zymurgy clause must be struck out'] },
    'attached.pdf': { says: ['Cover sheet.'] },
    'columns.pdf': { says: ['the northern dyke in April', 'whose report on the fever at Lowmarket'] },
    'hyphens.pdf': {
      says: ['price-determining', 'a climate chapter', 'state-of-the-art engine', 'steam-powered'],
    },
    'form.pdf': { says: ['applicant: Philippa Ravenscroft', 'harbour: Port Lanyon', 'insured: yes'] },
    'form-filled.pdf': { says: ['s: Quillfeather', 't: Ormskirk'] },
    'tool-form.pdf': { says: ['n: Mortimer Widdicombe', 'b: Swallowtail quay'] },
    'hidden.pdf': {
      says: ['485,000 crowns'],
      hides: ['one crown', 'Ignore all former orders', 'Zork'],
      notRead: ['hidden_text hidden 3'],
    },
    // Its letters stand three places further in the text than on the page: OCR reads the page.
    'false-tounicode.pdf': { hides: ['Fhuwlilfdwh'] },
    'ligature-nul.pdf': { says: ['Marchbank'], notRead: ['characters no_value 2'] },
  },
  other: {
    'star-mid-group.rtf': { says: ['The quick brown fox jumps over the lazy dog.', 'And a second line.'] },
    // Pages of 512 bytes: a tree of two levels, and a text that fills several pages.
    'ledger.sqlite': {
      says: [
        '| id | captain | tons, net | notes | photo',
        '| id: 7 | captain: Captain 7 Penhallow | tons, net: 10.5 | notes: Ragnhild drifted. Ragnhild',
        '| id: 60 | captain: Captain 60 Penhallow | tons, net: 90',
      ],
      notRead: ['text unsupported 1', 'encoded_data unsupported 1'],
    },
    'depots.parquet': {
      says: [
        '| depot: Skarvik | lanterns: 118 | opened: 2025-11-03T09:00:00.000Z | tags: ["a","b"] | big: 1152921504606846976',
        '| depot: Łódź | opened: 2026-01-01 | big: 2',
      ],
      notRead: ['encoded_data unsupported 1'],
    },
    // From olefile's tests (BSD licence).
    'olefile-test.doc': {
      says: ['Test OLE file, saved as Word 97-2003 Document.'],
      notRead: ['pictures unsupported -'],
    },
  },
  packages: {
    'chart.pptx': { says: ['Umbrellas sold in Prestwold', '| Spring | 3120'] },
    'smartart.pptx': { says: ['Weigh the Halvard clay', 'Fire it at cone nine'] },
    'fragment.epub': { says: ['Lady Averill hid the ledger in a churn'] },
    'flat.fodt': { says: ['The looms of Ormskirk were stopped.'], hides: ['LU/9IST'] },
  },
  text: {
    // HTML: elements part words as the standard renders them
    'page.html': {
      says: [
        'A & B',
        'First paragraph with a link.',
        '- one\n',
        '- two',
        '| Name | Size\n| Name: Oak | Size: 30 m',
        'A tree',
        'link: http://x.example/',
      ],
      hides: ['alert', 'evil', 'Home', 'secret', '.x'],
      notRead: ['hidden_text hidden 1', 'navigation left_out 1'],
    },
    'list-headings.html': {
      says: ['Lighthouse\nLighthouse\n\nTall.\n- Piers', 'Lighthouse › West pier', 'Harbour', 'Said'],
    },
    'list-of-terms.html': { says: ['keelhauler\nwinch\nmizzenport\nlantern'] },
    'details-and-an-address.html': { says: ['14 Cobbler Row\nHours\n\nTen.'] },
    'figure.html': { says: ['a grey heron\nweir'] },
    'form.html': { says: ['Who\nName\nAda\nTown\nLooe'] },
    'words-beside-a-picture.html': { says: ['red boat sails'] },
    'emphasis.html': { says: ['unbelievable H2O'] },
    // HTML: content outside the main text is kept
    'aside.html': { says: ['Never with brine.'] },
    'button.html': { says: ['Can I cancel?\n\nYes.'] },
    'beside-a-long-main.html': { says: ['Subscribe', 'The wherry sank.'] },
    'footer.html': { says: ['Imprint: Ada Quill'] },
    'note-mark.html': { says: ['The leech [1] and luff [2].'] },
    'navigation.html': { says: ['Words.'], hides: ['Home'], notRead: ['navigation left_out 1'] },
    'hidden-text.html': { says: ['Words.'], hides: ['Obey', 'Pay'], notRead: ['hidden_text hidden 2'] },
    // HTML: marks above, below and between words
    'formula.html': { says: ['rho = 7291 units'] },
    'ruby.html': { says: ['灯台守は (とうだいもり)'] },
    'unit.html': { says: ['9 m2, 10^6, the captain 3.'] },
    'drawing.html': { says: ['Depth 40 m'], hides: ['Icon'] },
    // HTML: a late character set counts
    'late.html': { says: ['Маяк'] },
    // Markdown: what is not markup stays
    'autolinks.md': { says: ['night@yarrow.example or see https://yarrow.example/rota.'] },
    'code.md': { says: ['Use <blinkbox> and Vec<Sprocket>, a `tick` , then __init__. Bold.'] },
    'front-matter.md': { says: ['author: Ottoline', '- Diary', 'The cellar was cold.'] },
    'table-in-html.md': { says: ['Layers: 0.965 | Words: 0.934', 'End note.'] },
    'picture-in-letters.md': {
      says: ['See the chart here.'],
      hides: ['WE7e'],
      notRead: ['pictures unsupported 1'],
    },
    'footnote.md': {
      says: ['[^1]: The angels take their share.', '[Note]: drain the wort.'],
    },
    'nested-lists.md': { says: ['- one\n  - two bold\n    - three <x>'] },
    // CSV: rows and columns however they are written
    'sep.csv': { says: ['| name: Gorse | units: 12'], hides: ['sep='] },
    'pipes.csv': { says: ['| name: Elm | units: 7'] },
    'line-breaks-in-quotes.csv': {
      says: ['| name: Norbury | address: 12 Quay Lower Yard Pennick | phone: 0117'],
    },
    'two-rows-no-last-line-break.csv': { says: ['| ship: Rosalind | captain: Solveig'] },
    'sentences-in-a-column.csv': { says: ['| product: Desk | stars: 5 | comment: A lovely'] },
    'prose-with-commas.txt': { says: ['Dear Ada, hello'] },
    'table-of-markdown.txt': { says: ['| c | d |'] },
    // JSON: values with their names, escapes as letters
    'lines.jsonl': { says: ['name: Café\nnote: От\n\nname: Bär'], notRead: ['markup damaged 1'] },
    'deep-and-large.json': {
      says: ['ship.crew.name: Ada\n\nship.crew.name: Bob', 'id: 12345678901234567890', 'tags: a, b'],
    },
    'notebook.json': {
      says: ['We fit <x>.', 'plot(a)', '<Figure>'],
      hides: ['WE7e', 'cell_type'],
      notRead: ['pictures unsupported 1'],
    },
    'data-in-letters.json': { says: ['name: x'], hides: ['WE7e'], notRead: ['encoded_data left_out 1'] },
    // calendars and cards
    'folded-event.ics': {
      says: [
        'Start: 2026-03-11 09:00 UTC',
        'Lighthouse refurbishment',
        'Description: Bring, tea.',
        'Ada: Q a@b.c',
      ],
      hides: ['UID'],
    },
    'card-with-a-photo.vcf': {
      says: ['Name: Quill, Ada', 'Telephone: +44 1695 570000', 'Address: 1 Quay, Looe'],
      hides: ['WE7e'],
      notRead: ['encoded_data unsupported 1'],
    },
    // XML: attributes, inline marks, sections, damage
    'attributes.xml': { says: ['name: Gadwall, tons: 412', 'Eustace'], hides: ['a1'] },
    'no-declaration.xml': { says: ['The looms were stopped.'] },
    'leading-line-break.xml': { says: ['words'] },
    'utf-16.xml': { says: ['Łódź'] },
    'malformed-feed.xml': { says: ['Tea & biscuits', 'the looms.'], notRead: ['markup damaged -'] },
    'article.xml': { says: ['Quill', 'Results', 'Looms in 3 were H2O-hot.', 'Funded.', 'A loom.'] },
    // mail: the text that says more, in its own character set
    'entity.xml': { says: ['Boats', 'Two &x; oars\n\nOne mast'], hides: ['bomb'] },
    // A quote counts only at the start of a cell, and only when it is closed.
    'quotes.csv': {
      says: [
        'Part: 7" pipe | Note: 2" wide\n',
        '"open\n',
        'Note: a "b", c\n| Part: "x"y | Note: two lines\n',
      ],
    },
    'mail.eml': {
      says: [
        'Plans for the lighthouse',
        'From: Ada Löw ada@example.org\nTo: Ben ben@example.org, Cleo',
        'Attachments: costs.csv',
        'The lamp is repaired on Thursday, says the café owner.',
      ],
    },
    'html-alone.eml': { says: ['Only words.'], hides: ['alert'] },
    // RTF: letters of every code page, and what stands beside the text
    'fields.rtf': { says: ['Café', 'Two {braces} and €uro.'], hides: ['Times', 'generator'] },
    'fonts.rtf': { says: ['café Свет é'] },
    'signs.rtf': { says: ['It’s “here”—or ‘there’ 1–2 • x-y zw'] },
    'cyrillic.rtf': { says: ['Свет'] },
    'japanese.rtf': { says: ['燈御 x灯!'] },
    'polish.rtf': { says: ['łódź'] },
    'header.rtf': { says: ['Lease', 'One.', 'Header and footer', 'Wexcombe mill'] },
    'notes.rtf': { says: ['Note: Of oak.\n\n stands.\n\nComment: Not ours.\n\n Still.'] },
    'box.rtf': { says: ['In a box.', 'After.'] },
    'hidden.rtf': { says: ['One two.'], notRead: ['hidden_text hidden 2', 'revisions left_out 1'] },
    'pictures.rtf': { says: ['Shown.'], notRead: ['pictures unsupported 1', 'attachments unsupported 1'] },
    'stub.eml': { says: ['Your barometer waits at the Trelawney kiosk.', 'Please enable HTML.'] },
    'no-character-set-named.eml': { says: ['灯台の'], notRead: ['charset guessed -'] },
    'utf-16.eml': { says: ['Subject: Looms', 'The looms were stopped.'] },
  },
  // Links, descriptions, tables, chats, cards and captions.
  seen: {
    'telegram.json': {
      says: [
        'Harbour club',
        'Yrsa, 2024-03-02 10:11: I left the Quillaby key under the blue pot by the gate.',
      ],
      hides: ['bold'],
    },
    'alt.docx': { says: ['Bronze brooch from the Tarporley mound'] },
    'fields.docx': {
      says: [
        '東京の塔 (とうきょう)',
        'Width 4^2 metres',
        '[struck out: The old price is 90 crowns.]',
        'claim form: https://claims.whixall.example/form\nour terms: https://terms.whixall.example/2024',
      ],
    },
    'links.html': { says: ['here: https://forms.clee.example/f?id=88\nthe reeve: reeve@clee.example'] },
    'merged.xlsx': {
      says: ['| Region: Northern | Depot: Tornby | 2023, Lanterns: 97', '2024, Lanterns: 88'],
      pages: 1,
    },
    'bank.csv': {
      says: [
        '| Girokonto | DE02',
        'Buchungsdatum: 05.10.24',
        'Verwendungszweck: Gehalt Oktober | Betrag (€): 2.310,00',
      ],
    },
    'ragged.csv': { says: ['| name: Bea | town: Clun\n| name: Cora | town: Ludlow | phone: 3 | extra'] },
    'statement.pdf': {
      says: ['Paid out: 850.00 | Balance', 'Details: Wages Weston dairy | Paid in: 2,310.00', 'ref 77-B'],
    },
    'meet.ics': { says: ['Start: 2024-11-12 09:30 (W. Europe Standard Time)'], hides: ['1601'] },
    'vcard21.vcf': { says: ['Name: Šimek, Günther', 'Note: owes me the Melverley ladder'] },
    'form.html': {
      says: [
        'Orders of the Calverhall cider works',
        'Enable scripts for Hinstock',
        '| Norton | 12\n| Norton | 19',
        '[struck out: 9 crowns]',
        'Framed Sambrook note',
        'Shadow of Chetwynd',
      ],
      notRead: ['hidden_text hidden 1'],
    },
    'talk.ass': {
      says: ['Guide: This sextant belonged to\nCaptain Weston.'],
      hides: ['internal', 'Dialogue'],
    },
    'plan.drawio': { says: ['Queue of Ellerdine\nWorker of Crudgington'] },
    'book.fb2': { says: ['Лодочник Мартын'], hides: ['GIdTgSq'], notRead: ['encoded_data unsupported 1'] },
    'ansi.log': { says: ['ERROR pump Leegomery stalled'], hides: ['[1;31m'] },
    'outline.pdf': {
      says: ['Bookmarks', 'Chapter on the Trefonen kiln', 'Author: Isolde Croesau', 'brickmaking'],
    },
    'lamalef.pdf': { says: ['الإنتاجية في حل المشكلات', 'لاحق'] },
    'right-to-left.pdf': { says: ['الإنتاجية والمشكلات لاحق في عام 2024', 'הספרים יועברו לבית הספר'] },
  },
  limits: {
    'pictures.odt': { notRead: ['pictures limit 70'] },
    'pictures.fodt': { notRead: ['pictures limit 70'] },
    'columns.sqlite': { notRead: ['text limit -'] },
    'columns.xlsb': { notRead: ['text limit 2', 'pictures unsupported -', 'charts unsupported -'] },
    'sheet-name.xlsx': { notRead: ['text limit 1'] },
    'header.xlsx': { notRead: ['headers limit -'] },
    'list-label.docx': { notRead: ['text limit 1'] },
    'deep-slides.ppt': { notRead: ['text limit 1', 'pictures unsupported -', 'charts unsupported -'] },
    'deep-groups.rtf': { notRead: ['text limit 1'] },
    'frames.webp': { notRead: ['frames limit 100'] },
    'files.pdf': { notRead: ['attachments limit 2'] },
    'pinned-file.pdf': { notRead: ['attachments limit 1'] },
    'title.html': { says: ['mizzen'] },
    'title.docx': { says: ['mizzen'] },
    'heading.html': { says: ['mizzen'] },
    'heading-2.html': { says: ['mizzen'] },
    'alt.html': { says: ['mizzen'] },
    'field.html': { says: ['mizzen'] },
    'receivers.eml': { says: ['mizzen'] },
    'subject.eml': { says: ['mizzen'] },
    'attribute.xml': { says: ['mizzen'] },
    'behind-groups.rtf': { says: ['mizzen'], notRead: ['text limit 1', 'hidden_text hidden 1'] },
  },
  office: {
    'sections.odt': { says: ['Boats', 'Rowing.', 'Oars', 'Two of them.'] },
    'sheet.ods': { says: ['Prices', '| Fish | Price\n| Fish: Cod | Price: 7'], pages: 1 },
    'slides.odp': { says: ['First', 'Two', 'Second'], pages: 2 },
    'notes.odt': {
      says: ['on a rock since 1850.\n\nA footnote.\n\nSeen from afar.\n\nA tower\n\nBoxed\n\nHow far?'],
      hides: ['Taken back'],
    },
    'nested-table.odt': { says: ['| 1 | 2\n| 3 | four red white after'] },
    'nested-table.ods': { says: ['| 1 | 2\n| 3 | four red white after'], pages: 1 },
    'text-box.docx': { says: ['Boats', 'Before the box, after the box.\n\nBoxed'] },
    'notes.docx': { says: ['On a rock since 1850.\n\nA footnote.\n\nAn endnote.\n\nMoved.'] },
    'table.docx': { says: ['| Fish: Cod | Price: 7'] },
    // Neither expanded nor fetched.
    'entities.docx': { says: ['Before &b;&x; after'], hides: ['ha'] },
    'values.ods': {
      says: ['| 99.25 | 7% | 12.5 EUR | 2024-03-05 | 07:05:00 | true | keel | of:=1+1'],
      notRead: ['formulas no_value 1'],
    },
    // Of two sheets, read once and without its codes.
    'header.xlsx': { says: ['Header and footer\nBinnacle & Sons\nPage of'], pages: 2 },
    'dates.xlsx': { says: ['| 2025-01-01 | 2025-01-01 18:00 | 45658.0 days | 12:00 | 45658'] },
  },
  '../samples/formats/application': {
    'vnd.ms-excel': {
      says: [
        'Ledger',
        'Fund: Dunmere Growth | Yield: 7.5% | Due: 2026-04-17',
        '(hidden sheet)',
        'Secret price | 12',
      ],
      pages: 2,
      notRead: OLD,
    },
    'vnd.ms-excel.sheet.binary.macroenabled.12': {
      says: [
        'Ledger',
        'Fund: Dunmere Growth | Yield: 7.5% | Due: 2026-04-17',
        '(hidden sheet)',
        'Secret price | 12',
      ],
      pages: 2,
      notRead: OLD,
    },
    'vnd.ms-powerpoint': {
      says: ['Harbour plan\nDredge the basin\nDraft of May', 'Costs\nNine crowns\nSee annex'],
      pages: 2,
      notRead: OLD,
    },
    'vnd.ms-outlook': { says: ['Lease', 'From: Ann', 'Attachments: terms.txt', 'We accept.'] },
  },
};

/** Of the texts, which have no signature: as their contents tell. */
const TYPES: Readonly<Record<string, RegExp>> = {
  html: /html/,
  md: /markdown/,
  csv: /csv/,
  txt: /plain/,
  json: /json$/,
  jsonl: /jsonl/,
  ics: /calendar/,
  vcf: /vcard/,
  xml: /\/xml/,
  eml: /rfc822/,
  rtf: /rtf/,
};

for (const [folder, cases] of Object.entries(CASES))
  t.test(`${folder}: what a file says is read, what is not read is told`, async (t) => {
    for (const [name, { says = [], hides = [], notRead = [], pages }] of Object.entries(cases)) {
      const read = await readBytes(readFileSync(join(import.meta.dirname, folder, name)));
      const { title = '', blocks, fileInfo } = read;
      const text = [title, ...blocks.flatMap(({ heading = '', text }) => [heading, text])].join('\n');
      let at = 0;
      for (const words of says) {
        const found = typeof words === 'string' ? text.indexOf(words, at) : text.search(words);
        t.ok(found >= 0, `${name} says ${words}`, { text });
        at = Math.max(at, found);
      }
      for (const words of hides) t.notOk(text.includes(words), `${name} does not say ${words}`);
      t.ok(title.length <= 300, `the title of ${name} is short`);
      if (pages) t.equal(fileInfo.pages, pages, name);
      if (folder === 'text') t.match(fileInfo.mediaType, TYPES[name.split('.').at(-1)!], name);
      t.same(
        read.notRead.map(({ what, why, count = '-' }) => `${what} ${why} ${count}`),
        notRead,
        `${name} tells what was not read`,
      );
    }
  });

const fileOf = (folder: string, name: string): Buffer =>
  readFileSync(join(import.meta.dirname, folder, name));

t.test('files inside files are members; one with a password is refused alone', async (t) => {
  t.match(await unpackBytes(fileOf('pdf', 'attached.pdf')), [
    { path: 'particulars.xml', text: /Kirkstall Rope Works/ },
  ]);
  t.match(await unpackBytes(fileOf('pdf', 'annotation-and-attachment.pdf')), [{ path: 'invoice.txt' }]);
  t.match(await unpackBytes(fileOf('other', 'mixed-password.zip')), [
    { path: 'open.txt', text: /Cressida Bulmer/ },
    { path: 'locked.txt', refused: 'file_encrypted' },
  ]);
  t.same(await unpackBytes(fileOf('text', 'mail.eml')), [
    { path: 'costs.csv', text: 'part,price\nlens,400\nbulb,12\n' },
  ]);
  t.match(await unpackBytes(fileOf('other', 'zip64.zip')), [{ path: 'a.txt', text: /looms of Ormskirk/ }]);
  t.match(await unpackBytes(fileOf('../samples/formats/application', 'vnd.ms-outlook')), [
    { path: 'terms.txt', text: 'Ten years.' },
  ]);
  const inner = zipOf({ 'word/document.xml': '<w:document xmlns:w="w"/>' });
  const outer = zipOf({
    'word/document.xml': '<w:document xmlns:w="w"><w:p><w:r><w:t>See inside.</w:t></w:r></w:p></w:document>',
    'word/_rels/document.xml.rels':
      '<R><Relationship Id="r1" Type="x/package" Target="embeddings/Plan.docx"/></R>',
    'word/embeddings/Plan.docx': inner,
  });
  t.match(await unpackBytes(outer), [{ path: 'Plan.docx' }]);
});

t.test('subtitles of a file keep their times, speakers and words', async (t) => {
  const srt =
    '1\r\n00:00:04,000 --> 00:00:07,500\r\n<i>Good evening.</i>\r\n\r\n2\r\n00:01:12,250 --> 00:01:15,000\r\nThis astrolabe.\r\n';
  t.same((await readBytes(Buffer.from(srt))).blocks, [
    { text: 'Good evening.', time_s: 4, time_end_s: 7.5, source: 'subtitle' },
    { text: 'This astrolabe.', time_s: 72.25, time_end_s: 75, source: 'subtitle' },
  ]);
  const vtt =
    'WEBVTT\n\nNOTE not shown\n\n01:12.250 --> 01:15.000 line:0\n<v Guide>This <01:12.900><c>ginkgo</c> &amp; more.\n';
  t.same((await readBytes(Buffer.from(vtt))).blocks, [
    { text: 'Guide: This ginkgo & more.', time_s: 72.25, time_end_s: 75, source: 'subtitle' },
  ]);
});

t.test('captions of other kinds have their times, too', async (t) => {
  t.match((await readBytes(fileOf('seen', 'talk.ass'))).blocks, [
    { time_s: 72.25, time_end_s: 75, source: 'subtitle' },
    { text: 'Guide: Please do not touch the Lyneal globe.', time_s: 160 },
  ]);
  const samples = '../samples/formats';
  t.match((await readBytes(fileOf(samples, 'application/ttml+xml'))).blocks, [
    { text: 'This sextant belonged\nto Captain Weston.', time_s: 72.25, time_end_s: 75 },
    { time_s: 160.2, time_end_s: 164.2 },
  ]);
  t.match((await readBytes(fileOf(samples, 'text/x-lrc'))).blocks.slice(1), [
    { text: 'Over the water she came', time_s: 12.5, time_end_s: 17.25 },
    { time_s: 17.25 },
    { time_s: 62 },
  ]);
});

t.test('a day of a Slack export names who speaks, by another file of its archive', async (t) => {
  const day = (await unpackBytes(fileOf('seen', 'slack.zip'))).find(({ path }) => path.includes('2023'))!;
  const { blocks } = await readBytes(Buffer.from(day.text));
  t.match(
    blocks[0]!.text,
    /^Ragna Holm, 2023-11-14 22:13 UTC: @Peder Vinther the Trondby invoice is <1000 & paid/,
  );
  t.match(blocks[0]!.text, /\n\nPeder Vinther, 2023-11-14 22:18 UTC: Thanks!/);
  t.match(blocks[1], { heading: 'Links', text: 'the ledger: https://pay.trondby.example/77' });
});

t.test('each mail of a mailbox is a file', async (t) => {
  const mail = (subject: string, body: string) =>
    `From a@b.c Mon Nov  3 10:00:00 2025\nFrom: a@b.c\nTo: d@e.f\nSubject: ${subject}\nDate: Mon, 3 Nov 2025 10:00:00 +0000\n\n${body}\n\n`;
  const members = await unpackBytes(
    Buffer.from(mail('one', '>From here it goes.') + mail('two', 'From the sea, 2025\nWords.')),
  );
  t.same(
    members.map(({ path }) => path),
    ['0001.eml', '0002.eml'],
  );
  t.match(members[0]!.text, /^From: a@b\.c[\s\S]*\n\nFrom here it goes\./);
  t.match(members[1]!.text, /From the sea, 2025\nWords\./);
});

t.test('what belongs to the HTML of a mail is a file inside it, unless it is a picture', async (t) => {
  const part = (type: string, name: string) =>
    `--r\nContent-Type: ${type}\nContent-Disposition: inline; filename="${name}"\nContent-ID: <${name}@x>\nContent-Transfer-Encoding: base64\n\nd29yZHM=\n`;
  const source = `From: a@b.c\nTo: d@e.f\nSubject: s\nDate: Mon, 3 Nov 2025 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="r"\n\n--r\nContent-Type: text/html\n\n<p>The bill.</p>\n${part('application/pdf', 'bill.pdf')}${part('image/png', 'logo.png')}--r--\n`;
  t.same(await unpackBytes(Buffer.from(source)), [{ path: 'bill.pdf', text: 'words' }]);
  t.same((await readBytes(Buffer.from(source))).notRead, [{ what: 'pictures', count: 1, why: 'left_out' }]);
});
