/** Of the texts of errors, which may repeat what was sent: long enough for a model to act on. */
const LENGTH_MAX = 500;

/** The beginning of a text, in so many UTF-16 code units at most. */
export function brief(text: string, lengthMax = LENGTH_MAX): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
}
