/** For texts of errors, which may repeat the input: long enough for a model to act on. */
const LENGTH_MAX = 500;

/** The beginning of a text, without half of a surrogate pair at its end. @param lengthMax UTF-16 code units */
export function beginning(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/[\ud800-\udbff]$/, '');
}

/** The beginning of a text, marked where it was cut. @param lengthMax UTF-16 code units */
export function brief(text: string, lengthMax = LENGTH_MAX): string {
  return text.length > lengthMax ? `${beginning(text, lengthMax - 1)}…` : text;
}
