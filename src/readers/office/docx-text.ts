import { walkXml } from '../text/xml.ts';
import type { Numbering } from './docx-numbering.ts';
import { type DocxStyles, isOn } from './docx-styles.ts';
import type { Report } from './office-content.ts';
import type { ParagraphStack } from './paragraph-stack.ts';
import { symbolOf } from './symbols.ts';

export type OnElement = (name: string, attributes: Readonly<Record<string, string>>) => void;

export interface ParagraphOptions {
  readonly styles: DocxStyles;
  readonly numbering?: Numbering;
  readonly report: Report;
  /** Gets what is no text: references to notes, drawings and other parts. */
  readonly onElement?: OnElement;
}

/** Letters of this size, in half points, cannot be read. */
const INVISIBLE_SIZE = 4;

/** Text of elements without any. A break that may not break the line is a hyphen, a soft one is nothing. */
const TEXTS: Readonly<Record<string, string>> = {
  tab: ' ',
  ptab: ' ',
  br: '\n',
  cr: '\n',
  noBreakHyphen: '-',
};

/** What stands for the structure of an equation (ECMA-376 part 1, 22.1), before and behind an element. */
const EQUATION: Readonly<Record<string, readonly [string, string]>> = {
  num: ['(', ')'],
  den: ['/(', ')'],
  sup: ['^', ''],
  sub: ['_', ''],
  rad: ['√(', ')'],
  nary: ['', ' '],
  d: ['(', ')'],
  mr: ['', '; '],
  oMath: ['', ' '],
};
const EQUATION_PREFIX = 'm:';

/**
 * Gives paragraphs and tables to the stack. Left out: the old place of moved text, copies for older programs, deleted and
 * hidden text; the last two are reported.
 */
export function walkParagraphs(
  source: string,
  part: string,
  stack: ParagraphStack<number>,
  { styles, numbering, report, onElement }: ParagraphOptions,
): void {
  let [inText, inRun, isHidden, hidesParagraph] = [false, false, false, false];
  let list: { id?: string; level?: number } = {};
  const write = (text: string): void => {
    if (isHidden || hidesParagraph) {
      if (text.trim() !== '') report('hidden_text', 'hidden', 1);
    } else stack.text(text);
  };
  walkXml(
    source,
    {
      skips: (name) =>
        name === 'Fallback' || name === 'moveFrom' || name === 'pPrChange' || name === 'rPrChange',
      open: (name, attributes, fullName) => {
        const { val = '' } = attributes;
        if (fullName.startsWith(EQUATION_PREFIX)) {
          write(name === 'chr' ? val : (EQUATION[name]?.[0] ?? ''));
          inText = name === 't';
          return;
        }
        if (name === 't') inText = true;
        else if (name === 'p') {
          stack.openParagraph();
          [hidesParagraph, list] = [false, {}];
        } else if (name === 'r') [inRun, isHidden] = [true, false];
        else if (Object.hasOwn(TEXTS, name) && inRun) write(TEXTS[name]!);
        else if (name === 'sym') {
          const symbol = symbolOf(attributes.font ?? '', attributes.char ?? '');
          if (symbol === undefined) report('characters', 'unsupported', 1);
          else write(symbol);
        } else if (name === 'delText') report('revisions', 'left_out', 1);
        else if (name === 'tbl') stack.openTable();
        else if (name === 'tr') stack.openRow();
        else if (name === 'pStyle') {
          const { level, list: id, listLevel, isHidden: hides = false } = styles.get(val) ?? {};
          if (level !== undefined) stack.setKind(level);
          if (id !== undefined) list = { id, level: listLevel ?? 0, ...list };
          hidesParagraph = hides;
        } else if (name === 'numId') list = { ...list, id: val };
        else if (name === 'ilvl') list = { ...list, level: Number(val) || 0 };
        else if (inRun && name === 'rStyle') isHidden ||= styles.get(val)?.isHidden ?? false;
        else if (inRun && name === 'vanish') isHidden = isOn(val);
        else if (inRun && name === 'sz') isHidden ||= Number(val) > 0 && Number(val) <= INVISIBLE_SIZE;
        else onElement?.(name, attributes);
      },
      text: (text) => {
        if (inText) write(text);
      },
      close: (name, fullName) => {
        if (fullName.startsWith(EQUATION_PREFIX)) {
          if (name === 't') inText = false;
          else write(EQUATION[name]?.[1] ?? '');
          return;
        }
        if (name === 't') inText = false;
        else if (name === 'r') [inRun, isHidden] = [false, false];
        else if (name === 'pPr' && list.id !== undefined) {
          const label = numbering?.next(list.id, list.level ?? 0) ?? '';
          if (label !== '') stack.text(`${label} `);
        } else if (name === 'p') {
          stack.closeParagraph();
          [hidesParagraph, list] = [false, {}];
        } else if (name === 'tc') stack.closeCell();
        else if (name === 'tbl') stack.closeTable();
      },
    },
    part,
  );
}
