import { TextDecoder } from 'node:util';
import type { Block } from '@farthing/protocol/document';
import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { type Colour, isFaint, isTiny, WHITE } from '../reading/visibility.ts';
import { Links } from './links.ts';
import { readPlain } from './plain.ts';
import { STRUCK } from './raised.ts';
import { type TextContents, textReader } from './text-format.ts';

export const rtf = textReader({ looksLike: ({ start }) => /^\{\\rtf/.test(start), read: readRtf });

/** Groups without text of the document (RTF 1.9.1, destinations). */
const HIDDEN =
  /^(\*|fonttbl|colortbl|stylesheet|info|pict|objdata|generator|listtable|listoverridetable|rsidtbl|themedata|datastore|xmlnstbl|nonshppict|nonesttables)$/;
/** Groups with text, also within one that has none: text boxes, and what stands beside the text. */
const SHOWN: Readonly<Record<string, Part>> = {
  shptxt: 'box',
  annotation: 'comment',
  footnote: 'footnote',
  header: 'head',
  headerl: 'head',
  headerr: 'head',
  headerf: 'head',
  footer: 'head',
  footerl: 'head',
  footerr: 'head',
  footerf: 'head',
  title: 'title',
};
type Part = 'box' | 'comment' | 'footnote' | 'head' | 'title';
/** Paragraphs that stand beside the text, as they begin. */
const BESIDE: Readonly<Record<Exclude<Part, 'head' | 'title'>, string>> = {
  box: '\n\n',
  comment: '\n\nComment: ',
  footnote: '\n\nNote: ',
};
/** What a document leaves out, by the word that begins it. */
const LEFT_OUT: Readonly<Record<string, NotRead>> = {
  pict: { what: 'pictures', count: 1, why: 'unsupported' },
  objdata: { what: 'attachments', count: 1, why: 'unsupported' },
};
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;
/** No program nests as deep. In deeper groups, marks hold to the end of the last one that counts. */
const DEPTH_MAX = 500;
const MACINTOSH = 10_000;
/** Fonts are numbered by 16 bits (RTF 1.9.1). */
const FONTS_MAX = 65_536;

/** The text of control words and symbols. */
const SYMBOLS: Readonly<Record<string, string>> = {
  par: '\n\n',
  sect: '\n\n',
  page: '\n\n',
  row: '\n\n',
  line: '\n',
  tab: ' ',
  cell: ' ',
  nestcell: ' ',
  nestrow: '\n\n',
  qmspace: ' ',
  emspace: ' ',
  enspace: ' ',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  endash: '–',
  emdash: '—',
  bullet: '•',
  '\n': '\n\n',
  '\r': '\n\n',
  '~': ' ',
  _: '-',
  '\\': '\\',
  '{': '{',
  '}': '}',
};

/** Code pages that are not called "windows-" and their number. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  65001: 'utf-8',
};
/** Code pages by the character set of a font (\fcharset). */
const FONT_PAGES: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

interface Group {
  /** It has no text of the document. */
  hidden: boolean;
  /** Its text is there, but not shown, or deleted. */
  unseen: NotRead['what'] | undefined;
  /** Outside the text: what the group is. */
  part: Part | undefined;
  /** Characters after a Unicode one that replace it in older programs. */
  skip: number;
  font: number;
  isTiny: boolean;
  /** Numbers of colours in the document's table: of letters, and of what they stand on. */
  ink: number;
  ground: number;
  isStruck: boolean;
}

/** The colours of a document, by their numbers; undefined for the automatic one. */
function coloursIn(source: string): (Colour | undefined)[] {
  const table = /\{\\colortbl([^{}]{0,20000})\}/.exec(source)?.[1] ?? '';
  return table.split(';').map((entry) => {
    const [red, green, blue] = ['red', 'green', 'blue'].map(
      (name) => new RegExp(`\\\\${name}(\\d{1,3})`).exec(entry)?.[1],
    );
    return red === undefined
      ? undefined
      : { red: Number(red), green: Number(green), blue: Number(blue), alpha: 1 };
  });
}

const PLAIN = { isTiny: false, ink: 0, ground: 0, isStruck: false } as const;

/** The text of an RTF document: its text boxes, notes and comments where they are bound to it, headers and footers once at its end. */
export function readRtf(source: string): TextContents {
  const stack: Group[] = [];
  let state: Group = { hidden: false, unseen: undefined, part: undefined, skip: 1, font: -1, ...PLAIN };
  let left = 0;
  let deeper = 0;
  let begins = false;
  const out: Record<'text' | 'head' | 'title', string> = { text: '', head: '', title: '' };
  let [codePage, defaultFont] = [1252, -1];
  let notRead: readonly NotRead[] = [];
  const fontPages = new Map<number, number>();
  const bytes = new ByteDecoder();
  const colours = coloursIn(source);
  const isHidden = ({ isTiny, ink, ground }: Group): boolean => {
    const colour = colours[ink];
    return (
      isTiny || (colour !== undefined && isFaint(colour, ground === 0 ? WHITE : (colours[ground] ?? WHITE)))
    );
  };
  const add = (text: string): void => {
    const unseen = state.unseen ?? (isHidden(state) ? 'hidden_text' : undefined);
    if (unseen === undefined) {
      const shown = state.isStruck && text.trim() !== '' ? STRUCK.join(text) : text;
      out[state.part === 'head' || state.part === 'title' ? state.part : 'text'] += shown;
    } else if (text.trim() !== '') {
      const why = unseen === 'revisions' ? 'left_out' : 'hidden';
      notRead = addNotRead(notRead, { what: unseen, count: 1, why });
    }
  };
  const write = (text: string): void => {
    const kept = text.slice(left);
    left = Math.max(0, left - text.length);
    add(bytes.end() + kept);
  };
  const writeByte = (byte: number): void => {
    if (left > 0) left--;
    else {
      const font = state.font < 0 ? defaultFont : state.font;
      const ready = bytes.decode(byte, fontPages.get(font) ?? codePage);
      if (ready !== '') add(ready);
    }
  };
  /** The second byte of a letter may be written as the character that it is in ASCII. */
  const continued = (text: string): string => {
    writeByte(text.charCodeAt(0) & 0xff);
    return text.slice(1);
  };
  const change = (next: Group): void => {
    const rest = bytes.end();
    if (rest !== '') add(rest);
    state = next;
  };
  const token = new RegExp(TOKEN);
  for (let match = token.exec(source); match; match = token.exec(source)) {
    const [, word, number, hex, symbol, brace, text] = match;
    const isFirst = begins;
    begins = brace === '{' || (begins && symbol === '*');
    if (brace === '{') {
      if (stack.length < DEPTH_MAX) stack.push({ ...state });
      else if (++deeper === 1) notRead = addNotRead(notRead, { what: 'text', count: 1, why: 'limit' });
    } else if (brace === '}' && deeper > 0) deeper--;
    else if (brace === '}') {
      const before = stack.pop() ?? state;
      const ends = state.part !== before.part;
      change(before);
      if (ends && state.part === undefined && !state.hidden) write('\n\n');
    }
    // Anywhere else it says nothing of the group.
    else if (symbol === '*') state.hidden ||= isFirst;
    else if (word === 'bin') token.lastIndex += Math.max(0, Number(number ?? 0));
    else if (word && isFirst && Object.hasOwn(SHOWN, word)) {
      const part = SHOWN[word]!;
      change({ ...state, hidden: false, part });
      if (part === 'head') write('\n\n');
      else if (part !== 'title') write(BESIDE[part]);
    } else if (word && HIDDEN.test(word)) {
      if (Object.hasOwn(LEFT_OUT, word)) notRead = addNotRead(notRead, LEFT_OUT[word]!);
      state.hidden = true;
    } else if (word === 'f') state.font = Number(number ?? 0);
    else if (word === 'fcharset') {
      const page = FONT_PAGES[Number(number)];
      if (page !== undefined && fontPages.size < FONTS_MAX) fontPages.set(state.font, page);
    } else if (word === 'deff') defaultFont = Number(number ?? 0);
    else if (word === 'ansicpg') codePage = Number(number ?? 1252);
    else if (word === 'mac') codePage = MACINTOSH;
    else if (word === 'uc') state.skip = Math.max(0, Number(number ?? 1));
    else if (word === 'v' || word === 'deleted')
      change({ ...state, unseen: number === '0' ? undefined : word === 'v' ? 'hidden_text' : 'revisions' });
    else if (word === 'plain') change({ ...state, unseen: undefined, ...PLAIN });
    else if (word === 'fs') change({ ...state, isTiny: isTiny(Number(number ?? 24) / 2) });
    else if (word === 'cf') change({ ...state, ink: Number(number ?? 0) });
    else if (word === 'cb' || word === 'highlight' || word === 'chcbpat')
      change({ ...state, ground: Number(number ?? 0) });
    else if (word === 'strike' || word === 'striked') change({ ...state, isStruck: number !== '0' });
    else if (state.hidden) continue;
    else if (hex) writeByte(Number.parseInt(hex, 16));
    else if (text) write(bytes.isOpen ? continued(text) : text);
    else if (word === 'u') {
      write(String.fromCharCode(Number(number ?? 63) & 0xffff));
      left = state.skip;
    } else {
      const control = word ?? symbol;
      if (control !== undefined && Object.hasOwn(SYMBOLS, control)) write(SYMBOLS[control]!);
    }
  }
  change(state);
  const title = out.title.trim();
  const contents: TextContents = title === '' ? readPlain(out.text) : { title, blocks: textBlocks(out.text) };
  const { blocks, notRead: encoded = [], ...guessed } = contents;
  const beside = distinctLines(out.head);
  const links = new Links();
  for (const [, target] of source.matchAll(/\\fldinst[^"]{0,200}HYPERLINK\s+"([^"]{1,2000})"/g))
    links.add('', target!);
  const all = addNotRead(notRead, ...encoded);
  return {
    ...guessed,
    blocks: [
      ...blocks,
      ...(beside === '' ? [] : [{ heading: 'Header and footer', text: beside }]),
      ...links.blocks(blocks),
    ],
    ...(all.length > 0 && { notRead: all }),
  };
}

function textBlocks(text: string): Block[] {
  return text.trim() === '' ? [] : [{ text: text.trim() }];
}

/** Each page has its headers: they are told once. */
function distinctLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ''))].join('\n');
}

/** Bytes that are decoded together: a call for each takes longer than all else, and more memory. */
const BYTES_AT_ONCE = 16 * 1024;

/** Decodes the bytes of a code page. A letter may take several bytes. */
class ByteDecoder {
  readonly #bytes = new Uint8Array(BYTES_AT_ONCE);
  #length = 0;
  #codePage: number | undefined;
  #decoder: TextDecoder | undefined;

  /** Whether the last byte may be the first of a letter of two. */
  get isOpen(): boolean {
    if (this.#length === 0 || !DOUBLE_BYTE_PAGES.includes(this.#codePage ?? 0)) return false;
    let open = false;
    for (const byte of this.#bytes.subarray(0, this.#length)) open = !open && isLead(byte, this.#codePage);
    return open;
  }

  /** Takes a byte. @returns the text that is not waited for any longer */
  decode(byte: number, codePage: number): string {
    let text = '';
    if (codePage !== this.#codePage) {
      text = this.end();
      this.#codePage = codePage;
      this.#decoder = decoderOf(codePage);
    } else if (this.#length === BYTES_AT_ONCE) text = this.#decodeTaken(true);
    this.#bytes[this.#length++] = byte;
    return text;
  }

  /** The text of the bytes that were taken, with the rest of an unfinished letter. */
  end(): string {
    return this.#decodeTaken(false);
  }

  #decodeTaken(stream: boolean): string {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return this.#decoder?.decode(taken, { stream }) ?? '';
  }
}

const DOUBLE_BYTE_PAGES = [932, 936, 949, 950];

/** In Shift_JIS, half-width katakana stand alone. */
function isLead(byte: number, codePage: number | undefined): boolean {
  return byte > 0x80 && byte < 0xff && !(codePage === 932 && byte >= 0xa0 && byte <= 0xdf);
}

/** Windows-1252 for an unknown code page. */
function decoderOf(codePage: number): TextDecoder {
  try {
    return new TextDecoder(CODE_PAGES[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
