import { JsonArray } from '../../domain/json-array.ts';

/** Of objects that are sent again and again. */
const texts = new WeakMap<object, string>();

/**
 * The JSON text of an object, as `JSON.stringify` writes it. Members that are JSON already are copied as
 * bytes. A frozen object is written once, so what is in it must never change.
 */
export function jsonText(object: Readonly<Record<string, unknown>>): string | Uint8Array {
  if (!Object.values(object).some((value) => value instanceof JsonArray)) {
    const text = texts.get(object) ?? JSON.stringify(object);
    if (Object.isFrozen(object)) texts.set(object, text);
    return text;
  }
  const pieces: (string | Uint8Array)[] = [];
  let text = '';
  for (const [name, value] of Object.entries(object)) {
    const written = value instanceof JsonArray ? '' : JSON.stringify(value);
    // As JSON has no undefined, the member is left out.
    if (written === undefined) continue;
    text += `${pieces.length === 0 && text === '' ? '{' : ','}${JSON.stringify(name)}:${written}`;
    if (value instanceof JsonArray) {
      pieces.push(text, value.bytes);
      text = '';
    }
  }
  pieces.push(`${text}}`);
  return joined(pieces);
}

function joined(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
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
