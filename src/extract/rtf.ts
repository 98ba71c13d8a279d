import type { Block } from '../domain/document.ts';
import { readPlain } from './plain.ts';

/** Groups that hold no text of the document (RTF 1.9.1, destinations). */
const HIDDEN =
  /^(\*|fonttbl|colortbl|stylesheet|info|pict|object|header[lrf]?|footer[lrf]?|generator|listtable|listoverridetable|rsidtbl|themedata|datastore|xmlnstbl)$/;
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;
const DEPTH_MAX = 500;

/** The text of an RTF document. */
export function readRtf(source: string): { title?: string; blocks: Block[] } {
  const stack: { hidden: boolean; skip: number }[] = [];
  let state = { hidden: false, skip: 1 };
  let left = 0;
  let out = '';
  const write = (text: string): void => {
    if (state.hidden) return;
    const kept = text.slice(left);
    left = Math.max(0, left - text.length);
    out += kept;
  };
  for (const [, word, number, hex, symbol, brace, text] of source.matchAll(TOKEN)) {
    if (brace === '{') {
      if (stack.length < DEPTH_MAX) stack.push({ ...state });
    } else if (brace === '}') state = stack.pop() ?? state;
    else if (hex) write(new TextDecoder('windows-1252').decode(Uint8Array.of(Number.parseInt(hex, 16))));
    else if (text) write(text);
    else if (symbol) {
      if (symbol === '*') state.hidden = true;
      else write(symbol === '~' ? ' ' : '\\{}'.includes(symbol) ? symbol : '');
    } else if (word) {
      if (HIDDEN.test(word)) state.hidden = true;
      else if (word === 'par' || word === 'sect' || word === 'page' || word === 'row') write('\n\n');
      else if (word === 'line') write('\n');
      else if (word === 'tab' || word === 'cell') write(' ');
      else if (word === 'uc') state.skip = Math.max(0, Number(number ?? 1));
      else if (word === 'u') {
        write(String.fromCharCode(Number(number ?? 63) & 0xffff));
        left = state.skip;
      }
    }
  }
  return readPlain(out);
}
