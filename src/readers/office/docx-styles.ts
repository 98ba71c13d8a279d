import { type Colour, colourOf, isTiny, WHITE } from '../reading/visibility.ts';
import { walkXml } from '../text/xml.ts';

export interface DocxStyle {
  /** Of a heading, from 1; 0 for a title. */
  level?: number;
  /** Of the list that its paragraphs belong to. */
  list?: string;
  listLevel?: number;
  isHidden?: boolean;
  /** Of its letters, and of what they stand on; absent: as around them. */
  ink?: Colour;
  ground?: Ground;
}

/** Undefined inside: a pattern, or a colour that is not known. */
export interface Ground {
  readonly colour: Colour | undefined;
}

/** The ground that shading or a highlight gives. */
export function groundOf(
  name: string,
  { val = '', fill }: Readonly<Record<string, string>>,
): Ground | undefined {
  if (name === 'highlight') return val === 'none' ? undefined : { colour: colourOf(val) };
  if (fill === undefined) return undefined;
  if (fill === 'auto') return val === 'clear' || val === 'nil' ? undefined : { colour: undefined };
  return { colour: val === 'clear' ? colourOf(fill) : undefined };
}

/** The colour of letters; undefined for the automatic one, which differs from its ground. */
export function inkOf({ val = '', themeColor }: Readonly<Record<string, string>>): Colour | undefined {
  return themeColor === 'background1' ? WHITE : val === 'auto' ? undefined : colourOf(val);
}

/** @param size in half points */
export function isTinySize(size: string): boolean {
  return Number(size) > 0 && isTiny(Number(size) / 2);
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
    open: (tag, attributes) => {
      const { styleId, val = '' } = attributes;
      if (tag === 'style') {
        style = styles.get(styleId ?? '') ?? {};
        if (styleId) styles.set(styleId, style);
      } else if (tag === 'name') {
        const heading = /^heading (\d)$/i.exec(val)?.[1];
        if (heading) style.level = Number(heading);
        else if (/^title$/i.test(val)) style.level = 0;
      } else if (tag === 'numId') style.list = val;
      else if (tag === 'ilvl') style.listLevel = Number(val) || 0;
      else if ((tag === 'vanish' && isOn(val)) || (tag === 'sz' && isTinySize(val))) style.isHidden = true;
      else if (tag === 'color') style.ink = inkOf(attributes) ?? style.ink;
      else if (tag === 'shd') style.ground = groundOf(tag, attributes) ?? style.ground;
      else if (tag === 'basedOn') {
        const { ink, ground, isHidden } = styles.get(val) ?? {};
        Object.assign(style, {
          ...(ink && { ink }),
          ...(ground && { ground }),
          ...(isHidden && { isHidden }),
        });
      }
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
