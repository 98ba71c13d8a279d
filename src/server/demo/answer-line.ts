import type { Hit } from '@farthing/client';

const SNIPPET_CHARACTERS = 64;
const PLACE_COLUMNS = 22;

/** A hit as one line: confidence, file and page, and the words that were found. */
export function answerLine({ confidence, item, locator, snippet }: Hit): string {
  const place = locator.page === undefined ? item.name : `${item.name}, page ${locator.page}`;
  const words = (snippet ?? '').replace(/\s+/g, ' ').trim();
  const shown =
    words.length <= SNIPPET_CHARACTERS ? words : `${words.slice(0, SNIPPET_CHARACTERS).trimEnd()}…`;
  return `    ${confidence.toFixed(2)}  ${place.padEnd(PLACE_COLUMNS)}${shown && `  ${shown}`}`.trimEnd();
}
