import { JsonArray } from '@farthing/engine/json-array';

/** Decimals of a number; more are noise, and amounts of money have six. `native/core/src/search/json_number.rs` does the same. */
const DIGITS = 6;
const UNITS = 10 ** DIGITS;
/** JSON that may hold a number to round; a text that looks like one only costs a second pass. */
const LONG = /\.\d{7}|\de-/;
/** Members that are not rounded: values that the client chose, and the score, which orders hits. */
const EXACT = new Set(['metadata', 'id', 'score']);

/** Texts of frozen objects, which are sent repeatedly. */
const texts = new WeakMap<object, string>();

/**
 * The JSON text of an object, as `shownJson` writes it. Members that are JSON already are copied as
 * bytes. A frozen object is written once, so what is in it must never change.
 * @param scratch memory that bytes may be returned in, where they have room
 */
export function jsonText(object: Readonly<Record<string, unknown>>, scratch?: Buffer): string | Uint8Array {
  if (!Object.values(object).some((value) => value instanceof JsonArray)) {
    const text = texts.get(object) ?? shownJson(object);
    if (Object.isFrozen(object)) texts.set(object, text);
    return text;
  }
  const pieces: (string | Uint8Array)[] = [];
  let text = '{';
  const add = (members: string): void => {
    if (members !== '') text += text === '{' ? members : `,${members}`;
  };
  // Members between arrays are written as one object.
  let plain: Record<string, unknown> = {};
  for (const name in object) {
    const value = object[name];
    if (value instanceof JsonArray) {
      add(shownJson(plain).slice(1, -1));
      add(`${JSON.stringify(name)}:`);
      pieces.push(text, value.bytes);
      text = '';
      plain = {};
    } else plain[name] = value;
  }
  add(shownJson(plain).slice(1, -1));
  pieces.push(`${text}}`);
  return joined(pieces, scratch);
}

/** JSON as it is shown: numbers have at most six digits after the point, but for those of `EXACT`. */
export function shownJson(value: object): string {
  return memberJson('', value) as string;
}

function memberJson(name: string, value: unknown): string | undefined {
  const text = JSON.stringify(value);
  if (EXACT.has(name) || text === undefined || !LONG.test(text)) return text;
  let exact: unknown;
  return JSON.stringify(value, function rounding(this: unknown, key: string, part: unknown) {
    if (this === exact) return part;
    if (EXACT.has(key)) exact = part;
    else if (typeof part === 'number') return rounded(part);
    return part;
  });
}

/** Too large numbers stay as they are: a double has no decimals there. */
function rounded(value: number): number {
  const units = value * UNITS;
  return Number.isSafeInteger(Math.round(units)) ? Math.round(units) / UNITS : value;
}

function joined(pieces: readonly (string | Uint8Array)[], scratch?: Buffer): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const bytes =
    scratch && length <= scratch.length ? scratch.subarray(0, length) : Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += bytes.write(piece, at);
    else {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return bytes;
}
