import { type Colour, isFaint, WHITE } from '../reading/visibility.ts';
import type { Links } from '../text/links.ts';
import { raised, STRUCK } from '../text/raised.ts';
import { walkXml } from '../text/xml.ts';
import type { Numbering } from './docx-numbering.ts';
import { type DocxStyles, type Ground, groundOf, inkOf, isOn, isTinySize } from './docx-styles.ts';
import { pictureWords } from './drawings.ts';
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
  /** Takes the links; `targets` are those of the part, by their ids. */
  readonly links?: Links;
  readonly targets?: ReadonlyMap<string, string>;
}

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

const SHAPE = /^(?:wsp|shape|rect|roundrect)$/;

/** What lies behind text, from the page to the cell: the innermost that says something. */
class Grounds {
  readonly #all: (Ground | undefined)[] = [{ colour: WHITE }];

  enter(ground?: Ground): void {
    this.#all.push(ground);
  }

  set(ground: Ground | undefined): void {
    if (ground) this.#all[this.#all.length - 1] = ground;
  }

  leave(): void {
    this.#all.pop();
  }

  get colour(): Colour | undefined {
    return this.#all.findLast((ground) => ground !== undefined)?.colour;
  }
}

/**
 * Gives paragraphs and tables to the stack. Left out: the old place of moved text, copies for older programs, deleted and
 * hidden text; the last two are reported.
 */
export function walkParagraphs(
  source: string,
  part: string,
  stack: ParagraphStack<number>,
  { styles, numbering, report, onElement, links, targets }: ParagraphOptions,
): void {
  let [inText, inRun, isHidden, hidesParagraph, isRaised, isStruck] = [
    false,
    false,
    false,
    false,
    false,
    false,
  ];
  let list: { id?: string; level?: number } = {};
  let ink: Colour | undefined;
  let paragraphInk: Colour | undefined;
  let ground: Ground | undefined;
  const grounds = new Grounds();
  /** The end of what was written in the paragraph; whether it ended in a struck run. */
  let [last, wasStruck] = ['', false];
  let readings: string[] | undefined;
  /** The link that is open, with its words; the code of a field, up to its result. */
  let link: { target: string; words: string } | undefined;
  let code: string | undefined;
  const openLink = (target: string | undefined): void => {
    if (target !== undefined) link = { target, words: '' };
  };
  const closeLink = (): void => {
    if (link) links?.add(link.words, link.target);
    link = undefined;
  };
  const put = (text: string): void => {
    stack.text(text);
    last = (last + text).slice(-30);
  };
  const endStruck = (): void => {
    if (wasStruck) put(STRUCK[1]);
    wasStruck = false;
  };
  const isSeen = (): boolean => {
    const colour = ground ? ground.colour : grounds.colour;
    const letters = ink ?? paragraphInk;
    return !(isHidden || hidesParagraph || (letters && isFaint(letters, colour)));
  };
  const write = (text: string): void => {
    if (!isSeen()) {
      if (text.trim() !== '') report('hidden_text', 'hidden', 1);
      return;
    }
    if (readings) {
      readings.push(text);
      return;
    }
    if (!isStruck) endStruck();
    else if (!wasStruck && text.trim() !== '') {
      put(STRUCK[0]);
      wasStruck = true;
    }
    const before = /[\p{L}\p{N}]*$/u.exec(last)?.[0] ?? '';
    put(isRaised ? raised(before, text) : text);
    if (link) link.words += text;
  };
  const startRun = (): void => {
    [inRun, isHidden, isRaised, isStruck, ink, ground] = [true, false, false, false, undefined, undefined];
  };
  let aside = '';
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
          grounds.enter();
          [hidesParagraph, list, last, paragraphInk] = [false, {}, '', undefined];
        } else if (name === 'r') startRun();
        else if (Object.hasOwn(TEXTS, name) && inRun) write(TEXTS[name]!);
        else if (name === 'sym') {
          const symbol = symbolOf(attributes.font ?? '', attributes.char ?? '');
          if (symbol === undefined) report('characters', 'unsupported', 1);
          else write(symbol);
        } else if (name === 'delText') report('revisions', 'left_out', 1);
        else if (name === 'tbl') {
          stack.openTable();
          grounds.enter();
        } else if (name === 'tblStyle') grounds.set({ colour: undefined });
        else if (name === 'tr') stack.openRow();
        else if (name === 'tblHeader' && isOn(val)) stack.headRow();
        else if (name === 'tc') grounds.enter();
        else if (name === 'gridSpan') stack.spanCell(Number(val) || 1);
        else if (name === 'vMerge') stack.mergeCell(val !== 'restart');
        else if (name === 'txbxContent' || SHAPE.test(name)) grounds.enter({ colour: undefined });
        else if (name === 'pStyle') {
          const style = styles.get(val) ?? {};
          const { level, list: id, listLevel, isHidden: hides = false } = style;
          if (level !== undefined) stack.setKind(level);
          if (id !== undefined) list = { id, level: listLevel ?? 0, ...list };
          hidesParagraph = hides;
          paragraphInk = style.ink;
          grounds.set(style.ground);
        } else if (name === 'numId') list = { ...list, id: val };
        else if (name === 'ilvl') list = { ...list, level: Number(val) || 0 };
        else if (inRun && name === 'rStyle') {
          const style = styles.get(val);
          isHidden ||= style?.isHidden ?? false;
          ink ??= style?.ink;
          ground ??= style?.ground;
        } else if (inRun && name === 'vanish') isHidden = isOn(val);
        else if (inRun && name === 'sz') isHidden ||= isTinySize(val);
        else if (inRun && name === 'color') ink = inkOf(attributes);
        else if (name === 'shd' || name === 'highlight') {
          if (inRun) ground = groundOf(name, attributes) ?? ground;
          else grounds.set(groundOf(name, attributes));
        } else if (inRun && name === 'vertAlign') isRaised = val === 'superscript';
        else if (inRun && (name === 'strike' || name === 'dstrike')) isStruck = isOn(val);
        else if (name === 'rt') readings = [];
        else if (name === 'hyperlink') openLink(targets?.get(attributes.id ?? ''));
        else if (name === 'instrText') inText = false;
        else if (name === 'fldChar') {
          if (attributes.fldCharType === 'begin') code = '';
          else if (attributes.fldCharType === 'separate') {
            openLink(linkIn(code));
            code = undefined;
          } else if (attributes.fldCharType === 'end') closeLink();
        } else if (name === 'fldSimple') openLink(linkIn(attributes.instr));
        else if (name === 'background') grounds.set({ colour: inkOf({ val: attributes.color ?? '' }) });
        else {
          const words = pictureWords(name, attributes);
          if (words !== '' && words !== aside) {
            stack.aside(words);
            aside = words;
          }
          onElement?.(name, attributes);
        }
      },
      text: (text) => {
        if (inText) write(text);
        else if (code !== undefined && inRun) code = `${code}${text}`.slice(0, CODE_LENGTH_MAX);
      },
      close: (name, fullName) => {
        if (fullName.startsWith(EQUATION_PREFIX)) {
          if (name === 't') inText = false;
          else write(EQUATION[name]?.[1] ?? '');
          return;
        }
        if (name === 't') inText = false;
        else if (name === 'r') {
          startRun();
          inRun = false;
        } else if (name === 'rt') {
          if (readings && readings.length > 0) stack.reading(readings.join(''));
          readings = undefined;
        } else if (name === 'hyperlink' || name === 'fldSimple') closeLink();
        else if (name === 'pPr' && list.id !== undefined) {
          const label = numbering?.next(list.id, list.level ?? 0) ?? '';
          if (label !== '') stack.text(`${label} `);
        } else if (name === 'p') {
          endStruck();
          stack.closeParagraph();
          grounds.leave();
          [hidesParagraph, list, last, paragraphInk, aside] = [false, {}, '', undefined, ''];
        } else if (name === 'tc') {
          stack.closeCell();
          grounds.leave();
        } else if (name === 'tbl') {
          stack.closeTable();
          grounds.leave();
        } else if (name === 'txbxContent' || SHAPE.test(name)) grounds.leave();
      },
    },
    part,
  );
}

/** Longer codes of fields are no links. */
const CODE_LENGTH_MAX = 5_000;

/** Where a field leads that is a link (ECMA-376 part 1, 17.16.5.25). */
function linkIn(code: string | undefined): string | undefined {
  return /^\s*HYPERLINK\s+"([^"]{1,2000})"/i.exec(code ?? '')?.[1];
}
