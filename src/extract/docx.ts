import { type OfficeContent, picturesOf, relationships, titleIn } from './office-content.ts';
import { Outline } from './outline.ts';
import { corrupt } from './refusal.ts';
import { tableText } from './table.ts';
import { walkXml } from './xml.ts';
import type { Zip } from './zip.ts';

const MAIN = 'word/document.xml';

/** WordprocessingML (ECMA-376 part 1, 17): paragraphs below their headings, tables by rows, pictures. */
export function readDocx(zip: Zip): OfficeContent {
  const source = zip.text(MAIN);
  if (source === undefined) throw corrupt('its text is missing');
  const levels = headingLevels(zip.text('word/styles.xml'));
  const outline = new Outline(titleIn(zip.text('docProps/core.xml')));
  let paragraph = '';
  let style = '';
  let inText = false;
  /** Rows of the outermost open table; tables inside are text of their cell. */
  let rows: string[][] = [];
  let tables = 0;
  walkXml(
    source,
    {
      open: (name, attributes) => {
        if (name === 'p' && tables === 0) [paragraph, style] = ['', ''];
        else if (name === 'pStyle') style = attributes.val ?? '';
        else if (name === 't') inText = true;
        else if (name === 'tab') paragraph += ' ';
        else if (name === 'br' || name === 'cr') paragraph += '\n';
        else if (name === 'tbl' && tables++ === 0) rows = [];
        else if (name === 'tr' && tables === 1) rows.push([]);
        else if (name === 'tc' && tables === 1) paragraph = '';
      },
      text: (text) => {
        if (inText) paragraph += text;
      },
      close: (name) => {
        if (name === 't') inText = false;
        else if (name === 'tc' && tables === 1) rows.at(-1)?.push(paragraph.trim());
        else if (name === 'tbl' && --tables === 0) outline.paragraph(tableText(rows));
        else if (name === 'p' && tables > 0) paragraph += ' ';
        else if (name === 'p') {
          const level = levels.get(style);
          if (level === undefined) outline.paragraph(paragraph);
          else outline.heading(level, paragraph);
        }
      },
    },
    MAIN,
  );
  return { ...outline.finish(), pictures: picturesOf(zip, relationships(zip, MAIN).values()) };
}

/** Levels of the styles that are headings, by their ids: names are the same in every language, ids are not. */
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
