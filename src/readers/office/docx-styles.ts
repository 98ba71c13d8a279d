import { walkXml } from '../text/xml.ts';

export interface DocxStyle {
  /** Of a heading, from 1; 0 for a title. */
  level?: number;
  /** Of the list that its paragraphs belong to. */
  list?: string;
  listLevel?: number;
  isHidden?: boolean;
}

/** Styles by their ids. */
export type DocxStyles = ReadonlyMap<string, DocxStyle>;

/** Ids differ by language, names of headings do not. */
export function docxStyles(source: string | undefined): DocxStyles {
  const styles = new Map<string, DocxStyle>([['Title', { level: 0 }]]);
  for (let level = 1; level <= 9; level++) styles.set(`Heading${level}`, { level });
  if (source === undefined) return styles;
  let style: DocxStyle = {};
  walkXml(source, {
    open: (tag, { styleId, val = '' }) => {
      if (tag === 'style') {
        style = styles.get(styleId ?? '') ?? {};
        if (styleId) styles.set(styleId, style);
      } else if (tag === 'name') {
        const heading = /^heading (\d)$/i.exec(val)?.[1];
        if (heading) style.level = Number(heading);
        else if (/^title$/i.test(val)) style.level = 0;
      } else if (tag === 'numId') style.list = val;
      else if (tag === 'ilvl') style.listLevel = Number(val) || 0;
      else if (tag === 'vanish' && isOn(val)) style.isHidden = true;
    },
    close: (tag) => {
      if (tag === 'style') style = {};
    },
  });
  return styles;
}

/** The value of a switch, which is on where nothing is said. */
export function isOn(val: string): boolean {
  return !['0', 'false', 'off', 'none'].includes(val);
}
