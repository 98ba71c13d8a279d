import type { NotRead } from '@farthing/protocol/file/not-read';
import { addNotRead } from '@farthing/protocol/file/not-read';
import { chatOf, richText } from './chats.ts';
import { isData } from './encoded-data.ts';
import { isNotebook, readNotebook } from './notebook.ts';
import { type TextContents, textReader } from './text-format.ts';

/** Values nested deeper are left out. */
const DEPTH_MAX = 1_000;
/** Longer texts are refused by their length, before anybody parses them. */
const PARSED_LENGTH_MAX = 20_000_000;
/** Lines of JSON that are looked at before all of them are read. */
const LINES_LOOKED_AT = 10;

export const json = textReader({
  looksLike: ({ start, text }) => /^[{[]/.test(start) && isParsable(text),
  read: (text) => {
    const value = parsed(text);
    return isNotebook(value) ? readNotebook(value) : (chatOf(value) ?? readJson([value]));
  },
});

/** JSON Lines: a value in each line. */
export const jsonLines = textReader({
  looksLike: ({ start, text }) => {
    if (!/^[{[]/.test(start)) return false;
    const lines = text
      .slice(0, 2 ** 20)
      .split('\n')
      .filter((line) => line.trim() !== '');
    const looked = lines.slice(0, LINES_LOOKED_AT).map((line) => isRecord(parsed(line)));
    // A line may be damaged, and the last one cut off.
    return looked.length > 1 && looked[0]! && looked.filter(Boolean).length * 2 > looked.length;
  },
  read: (text) => {
    let damaged = 0;
    const values = text.split('\n').flatMap((line) => {
      if (line.trim() === '') return [];
      const value = parsed(line);
      if (value !== undefined) return [value];
      damaged++;
      return [line];
    });
    const { blocks, notRead = [] } = readJson(values);
    return { blocks, notRead: addNotRead(notRead, ...markup(damaged)) };
  },
});

function markup(count: number): readonly NotRead[] {
  return count > 0 ? [{ what: 'markup', count, why: 'damaged' }] : [];
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isParsable(text: string): boolean {
  return text.length > PARSED_LENGTH_MAX || parsed(text) !== undefined;
}

/** Numbers that a double cannot hold stay as they are written. Undefined for text that is no JSON, or nested too deep. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''), exactly);
  } catch {
    return undefined;
  }
}

function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && String(value) !== context?.source ? (context?.source ?? value) : value;
}

/** Each value of an object as a line with its name; an empty line between records. */
function readJson(values: readonly unknown[]): TextContents {
  const lines: string[] = [];
  let notRead: readonly NotRead[] = [];
  const skip = (what: NotRead['what'], why: NotRead['why']) => {
    notRead = addNotRead(notRead, { what, count: 1, why });
  };
  const scalar = (name: string, value: unknown): void => {
    if (typeof value === 'string' && isData(value)) skip('encoded_data', 'left_out');
    else if (value !== null && value !== '') lines.push(name === '' ? `${value}` : `${name}: ${value}`);
  };
  const walk = (name: string, value: unknown, depth: number): void => {
    if (depth > DEPTH_MAX) skip('text', 'limit');
    else if (Array.isArray(value)) {
      const sentence = richText(value);
      if (sentence !== undefined) {
        scalar(name, sentence);
        return;
      }
      const isList = value.every((each) => typeof each !== 'object' || each === null);
      if (isList && value.every((each) => typeof each !== 'string' || each.length < 80))
        scalar(name, value.filter((each) => each !== null && each !== '').join(', '));
      else
        for (const each of value) {
          walk(name, each, depth + 1);
          if (typeof each === 'object') lines.push('');
        }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value))
        walk(name === '' ? key : `${name}.${key}`, each, depth + 1);
    } else scalar(name, value);
  };
  for (const value of values) {
    walk('', value, 0);
    lines.push('');
  }
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return { blocks: text === '' ? [] : [{ text }], notRead };
}
