/** For texts of errors, which may repeat the input: long enough for a model to act on. */
const LENGTH_MAX = 500;

/** The beginning of a text. @param lengthMax UTF-16 code units */
export function brief(text: string, lengthMax = LENGTH_MAX): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
}
