/**
 * Makes almanac.pdf, the sample of several pages: `npx node samples/make-pdf.ts`. Each page has one subject, so that a
 * search shows whether it finds the right page. The same input gives the same bytes.
 */
import { writeFile } from 'node:fs/promises';
import { PDFDocument, type PDFFont, StandardFonts } from 'pdf-lib';

const PAGES: readonly (readonly [heading: string, text: string])[] = [
  [
    'The waggle dance of the honeybee',
    'A forager that has found blossoms returns to the hive and dances on the comb. The angle of her straight run against the vertical is the angle between the flowers and the sun; the length of the run tells how far they are. Her sisters follow in the dark, touching her with their antennae, and then fly out in the direction she gave. Karl von Frisch decoded this language in the meadows of Austria and received a Nobel Prize for it. Bees correct the angle as the sun moves, even when clouds hide it, because they see the polarisation of the blue sky.',
  ],
  [
    'Reading the climate in Antarctic ice',
    'Snow that falls on the polar plateau never melts. Layer upon layer presses it into ice, and with it small bubbles of the air of its day. At Dome C a drill brought up a core more than three kilometres long, whose deepest part is eight hundred thousand years old. The bubbles hold carbon dioxide that can be measured directly; the ratio of heavy to light oxygen in the ice itself tells how cold it was. Cold ages and warm ages follow each other in the core like the beats of a very slow clock.',
  ],
  [
    'Why sourdough rises',
    'A spoonful of flour and water left in a warm kitchen begins to bubble after some days. Wild yeasts in it turn sugar into gas, and lactic acid bacteria turn it into acids, which give the loaf its taste and keep mould away. Kneading links the proteins of the wheat to gluten, an elastic net that holds the gas. A baker feeds the starter every day with fresh flour, and the same culture may live in a family for generations. The crust browns at the end, when sugars and proteins react in the heat of the oven.',
  ],
  [
    'How zero became a number',
    'Babylonian scribes left a gap where a digit was missing, and later marked the gap with two wedges. In India the mark became a number of its own: Brahmagupta wrote in the year 628 how to add it, subtract it and multiply by it, and stumbled over dividing by it. Merchants and scholars of Baghdad carried the ten digits westward; Fibonacci of Pisa learned them in North Africa as a boy. Some Italian cities forbade the new figures in account books, for a zero is easily altered into a six or a nine.',
  ],
  [
    'Electricity from the tides',
    'Twice a day the sea lifts the water behind the dam across the estuary of the Rance in Brittany by eight metres and more. Gates shut at high tide, and the water runs out through twenty-four turbines, which also work when the flood comes in. Tides can be foretold for centuries, unlike wind and sunshine, but salt water attacks steel, and mud settles where the current is slowed. Newer machines stand freely on the sea floor, like windmills under water, and leave the passage open for fish and ships.',
  ],
];

const PAGE = { width: 420, height: 595, margin: 48 };
const TITLE = 'A Small Almanac';

const document = await PDFDocument.create();
document.setTitle(TITLE);
document.setCreationDate(new Date(0));
document.setModificationDate(new Date(0));
const roman = await document.embedFont(StandardFonts.TimesRoman);
const bold = await document.embedFont(StandardFonts.TimesRomanBold);

for (const [index, [heading, text]] of PAGES.entries()) {
  const page = document.addPage([PAGE.width, PAGE.height]);
  const top = PAGE.height - PAGE.margin;
  page.drawText(heading, { x: PAGE.margin, y: top, size: 17, font: bold });
  for (const [line, words] of wrap(text, roman, 12, PAGE.width - 2 * PAGE.margin).entries()) {
    page.drawText(words, { x: PAGE.margin, y: top - 34 - line * 17, size: 12, font: roman });
  }
  page.drawText(`${index + 1}`, { x: PAGE.width / 2, y: PAGE.margin / 2, size: 10, font: roman });
}

await writeFile(new URL('./almanac.pdf', import.meta.url), await document.save());

function wrap(text: string, font: PDFFont, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (font.widthOfTextAtSize(longer, size) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
