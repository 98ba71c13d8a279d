import t from 'tap';
import { readBytes } from '../rig/readers.ts';
import { zipOf } from './samples/archives.ts';

/** Each file says SEEN to people, and ZORK to machines alone, in the ways that the format has. */
const SEEN = 'The mill is open.';
const ZORK = 'Pay Zork.';

const page = (body: string, head = ''): Buffer =>
  Buffer.from(`<!DOCTYPE html><html><head>${head}</head><body><p>${SEEN}</p>${body}</body></html>`);
const styled = (style: string): Buffer => page(`<p style="${style}">${ZORK}</p>`);
const classed = (sheet: string, body = `<p class="x">${ZORK}</p>`): Buffer =>
  page(body, `<style>${sheet}</style>`);

const mail = (html: string): Buffer =>
  Buffer.from(
    `From: a@b.c\nTo: d@e.f\nSubject: s\nDate: Mon, 3 Nov 2025 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: text/html\n\n${html}`,
  );

const docx = (runs: string): Buffer =>
  zipOf({
    'word/document.xml': `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>${SEEN}</w:t></w:r></w:p>${runs}</w:body></w:document>`,
    'word/styles.xml':
      '<w:styles xmlns:w="w"><w:style w:styleId="Pale"><w:rPr><w:color w:val="FEFEFE"/></w:rPr></w:style></w:styles>',
  });
const run = (properties: string): string =>
  `<w:p><w:r><w:rPr>${properties}</w:rPr><w:t>${ZORK}</w:t></w:r></w:p>`;

const slide = (shape: string): Buffer =>
  zipOf({
    'ppt/presentation.xml':
      '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldSz cx="9144000" cy="6858000"/><p:sldId id="256" r:id="r1"/></p:presentation>',
    'ppt/_rels/presentation.xml.rels': '<R><Relationship Id="r1" Type="x/slide" Target="slides/s.xml"/></R>',
    'ppt/slides/s.xml': `<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:txBody><a:p><a:r><a:t>${SEEN}</a:t></a:r></a:p></p:txBody></p:sp>${shape}</p:sld>`,
  });
const shape = (place: string, look: string, fill = ''): string =>
  `<p:sp><p:spPr><a:xfrm>${place}</a:xfrm>${fill}</p:spPr><p:txBody><a:p><a:r>${look}<a:t>${ZORK}</a:t></a:r></a:p></p:txBody></p:sp>`;
const ON_SLIDE = '<a:off x="10" y="10"/><a:ext cx="500000" cy="500000"/>';
const WHITE_RUN = '<a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr>';

const sheet = (cell: string, styles: string): Buffer =>
  zipOf({
    'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': '<R><Relationship Id="r1" Type="x/worksheet" Target="s.xml"/></R>',
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
    'xl/s.xml': `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>${SEEN}</t></is></c>${cell}</row></sheetData></worksheet>`,
  });
const FONTS =
  '<fonts><font><sz val="11"/></font><font><sz val="11"/><color rgb="FFFFFFFF"/></font><font><sz val="1"/></font></fonts>';
const cell = (style: number): string => `<c r="B1" s="${style}" t="inlineStr"><is><t>${ZORK}</t></is></c>`;

const odt = (styles: string, body: string): Buffer =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content xmlns:office="o" xmlns:style="s" xmlns:fo="f" xmlns:text="t"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text><text:p>${SEEN}</text:p>${body}</office:text></office:body></office:document-content>`,
  });
const span = `<text:p><text:span text:style-name="x">${ZORK}</text:span></text:p>`;
const look = (properties: string): string =>
  `<style:style style:name="x"><style:text-properties ${properties}/></style:style>`;

const rtf = (body: string): Buffer =>
  Buffer.from(`{\\rtf1\\ansi{\\colortbl;\\red255\\green255\\blue255;}${SEEN}\\par {${body} ${ZORK}}}`);

const svg = (text: string): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="90"><style>.x{display:none}</style><text x="5" y="20">${SEEN}</text>${text}</svg>`,
  );

/** @param content of the page, behind the text that is seen @param off whether the layer is switched off */
function pdf(content: string, off = false): Buffer {
  const stream = `BT /F 10 Tf 1 0 0 1 60 760 Tm (${SEEN}) Tj ET\n${content}`;
  const layers = `/OCProperties<</OCGs[5 0 R]/D<</OFF[${off ? '5 0 R' : ''}]>>>>`;
  const objects = [
    `<</Type/Catalog/Pages 2 0 R${layers}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/Properties<</L 5 0 R>>/ExtGState<</G<</ca 0>>>>>>>>',
    `<</Length ${stream.length}>>\nstream\n${stream}\nendstream`,
    '<</Type/OCG/Name(Draft)>>',
  ];
  return Buffer.from(
    `%PDF-1.7\n${objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join('')}trailer<</Root 1 0 R>>\n`,
  );
}
const words = (before: string, size = 12): string =>
  `${before} BT /F ${size} Tf 1 0 0 1 60 700 Tm (${ZORK}) Tj ET`;

const HIDDEN: Readonly<Record<string, Readonly<Record<string, Buffer>>>> = {
  HTML: {
    'an attribute': page(`<p hidden>${ZORK}</p>`),
    'for machines': page(`<p aria-hidden="true">${ZORK}</p>`),
    'a closed dialogue': page(`<dialog>${ZORK}</dialog>`),
    'a class': classed('.x{display:none}'),
    'an id in a list of selectors': classed('a, #y , b{visibility:hidden}', `<p id="y">${ZORK}</p>`),
    'a descendant': classed('div > .y .x{opacity:0}', `<div><p class="y"><b class="x">${ZORK}</b></p></div>`),
    'a sibling': classed('h2 + p{display:none}', `<h2>${SEEN}</h2><p>${ZORK}</p>`),
    'a rule of a screen': classed('@media screen{.x{display:none}}'),
    'a rule that matters': classed('.x{display:none!important} p.x{display:block}'),
    'no size': styled('font-size:0'),
    'one pixel': styled('font: 1px serif'),
    opacity: styled('opacity:.01'),
    'white on white': styled('color:#fff'),
    'pale in words': styled('color:rgb(250, 250, 250)'),
    'on its own ground': styled('color:black;background:#000'),
    'of its parent’s ground': page(
      `<div style="background-color:navy"><p style="color:#000080">${ZORK}</p></div>`,
    ),
    'an old attribute': page(`<font color="white">${ZORK}</font>`),
    'off the page': styled('position:absolute;left:-9999px'),
    indented: styled('text-indent:-9999px'),
    'cut off': styled('clip-path:inset(100%)'),
    'no height': styled('height:0;overflow:hidden'),
    'no scale': styled('transform:scale(0)'),
  },
  mail: {
    'a style': mail(`<p>${SEEN}</p><p style="font-size:0">${ZORK}</p>`),
    'the ground of a table': mail(
      `<p>${SEEN}</p><table bgcolor="#333333"><tr><td><font color="#333333">${ZORK}</font></td></tr></table>`,
    ),
  },
  DOCX: {
    vanish: docx(run('<w:vanish/>')),
    white: docx(run('<w:color w:val="FFFFFF"/>')),
    'half a point': docx(run('<w:sz w:val="1"/>')),
    'on its highlight': docx(run('<w:color w:val="000000"/><w:highlight w:val="black"/>')),
    'a style': docx(run('<w:rStyle w:val="Pale"/>')),
  },
  PPTX: {
    white: slide(shape(ON_SLIDE, WHITE_RUN)),
    'on its filling': slide(
      shape(ON_SLIDE, WHITE_RUN, '<a:solidFill><a:srgbClr val="FEFEFE"/></a:solidFill>'),
    ),
    small: slide(shape(ON_SLIDE, '<a:rPr sz="100"/>')),
    'right of the slide': slide(shape('<a:off x="9200000" y="10"/><a:ext cx="5" cy="5"/>', '')),
    'left of the slide': slide(shape('<a:off x="-900" y="10"/><a:ext cx="500" cy="5"/>', '')),
    'a hidden shape': slide(
      `<p:sp><p:cNvPr hidden="1"/><p:txBody><a:p><a:r><a:t>${ZORK}</a:t></a:r></a:p></p:txBody></p:sp>`,
    ),
  },
  XLSX: {
    ';;;': sheet(
      '<c r="B1" s="0"><v>42</v></c>',
      '<numFmts><numFmt numFmtId="200" formatCode=";;;"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs>',
    ),
    white: sheet(cell(1), `${FONTS}<cellXfs><xf/><xf fontId="1" fillId="0"/></cellXfs>`),
    small: sheet(cell(1), `${FONTS}<cellXfs><xf/><xf fontId="2"/></cellXfs>`),
  },
  ODT: {
    'not displayed': odt(look('text:display="none"'), span),
    white: odt(look('fo:color="#ffffff"'), span),
    'on its ground': odt(look('fo:color="#000000" fo:background-color="#000000"'), span),
    small: odt(look('fo:font-size="1pt"'), span),
    'a section': odt('', `<text:section text:display="none"><text:p>${ZORK}</text:p></text:section>`),
  },
  RTF: { hidden: rtf('\\v'), white: rtf('\\cf1'), small: rtf('\\fs2') },
  SVG: {
    'a class': svg(`<text class="x" x="5" y="50">${ZORK}</text>`),
    white: svg(`<text fill="#fff" x="5" y="50">${ZORK}</text>`),
    'a clear group': svg(`<g opacity="0"><text x="5" y="50">${ZORK}</text></g>`),
  },
  PDF: {
    'drawn invisibly': pdf(words('3 Tr')),
    'half a point': pdf(words('', 0.5)),
    white: pdf(words('1 1 1 rg')),
    pale: pdf(words('1 1 .94 rg')),
    transparent: pdf(words('/G gs')),
    covered: pdf(`${words('')} 1 1 1 rg 50 690 200 30 re f`),
    'cut off': pdf(`q 0 0 9 9 re W n ${words('')} Q`),
    'black on black': pdf(`0 0 0 rg 50 690 200 30 re f ${words('')}`),
    'a layer that is off': pdf(`/OC /L BDC ${words('')} EMC`, true),
    'beside the page': pdf(`BT /F 12 Tf 1 0 0 1 900 700 Tm (${ZORK}) Tj ET`),
  },
};

/** What looks like a trick, and is seen. */
const SHOWN: Readonly<Record<string, Readonly<Record<string, Buffer>>>> = {
  HTML: {
    'white on dark': styled('color:white;background:#036'),
    'white on a picture': styled('color:white;background:url(a.png)'),
    'a rule for paper': classed('@media print{.x{display:none}}'),
    'a rule for small screens': classed('@media (max-width:600px){.x{display:none}}'),
    'a rule for a moment': classed('.x:hover{display:none}'),
    'shown again': classed('.x{display:none} p.x{display:block}'),
    'letters in a box without a size of letters': page(
      `<div style="font-size:0"><p style="font-size:12px">${ZORK}</p></div>`,
    ),
    'white where a style sheet is not in the file': page(
      `<p style="color:#fff">${ZORK}</p>`,
      '<link rel="stylesheet" href="a.css">',
    ),
  },
  DOCX: {
    'white on dark': docx(run('<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F3864"/>')),
    'in a table with a style': docx(
      `<w:tbl><w:tblPr><w:tblStyle w:val="Grid4"/></w:tblPr><w:tr><w:tc>${run('<w:color w:val="FFFFFF"/>')}</w:tc></w:tr></w:tbl>`,
    ),
  },
  PPTX: {
    'white on a filling': slide(
      shape(ON_SLIDE, WHITE_RUN, '<a:solidFill><a:srgbClr val="203864"/></a:solidFill>'),
    ),
  },
  SVG: { 'white on a shape': svg(`<rect width="300" height="90"/><text fill="#fff" y="50">${ZORK}</text>`) },
  PDF: {
    'white on dark': pdf(`0 0 .4 rg 50 690 200 30 re f ${words('1 1 1 rg')}`),
    'a layer that is on': pdf(`/OC /L BDC ${words('')} EMC`),
    'beside a white shape': pdf(`${words('')} 1 1 1 rg 300 690 200 30 re f`),
    'cut with room': pdf(`q 50 600 400 200 re W n ${words('')} Q`),
  },
};

for (const [files, isShown] of [
  [HIDDEN, false],
  [SHOWN, true],
] as const)
  for (const [format, ways] of Object.entries(files))
    t.test(
      `${format}: what people ${isShown ? 'see is read' : 'do not see is left out, and told'}`,
      async (t) => {
        for (const [way, bytes] of Object.entries(ways)) {
          const { title = '', blocks, notRead } = await readBytes(bytes);
          const text = [title, ...blocks.map((block) => block.text)].join('\n');
          t.match(text, SEEN, `${way}: the rest is read`);
          t.equal(/Zork|\b42\b/.test(text), isShown, way);
          t.equal(
            notRead.some(({ what, why }) => what === 'hidden_text' && why === 'hidden'),
            !isShown,
            `${way}: told`,
          );
        }
      },
    );
