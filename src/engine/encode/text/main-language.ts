import { native } from '@farthing/native';

/** Places of a text that are looked at, and characters at each: the detector reads no more. */
const PLACES = 12;
const CHARACTERS = 200;
/** Minimum share of the samples that must agree. */
const SHARE_MIN = 0.6;

/**
 * The language, as ISO 639-3, that most of a document is certainly in; undefined where it is mixed, short, or no prose.
 * @param texts in reading order
 */
export function mainLanguage(texts: readonly string[]): string | undefined {
  const places = placesOf(texts);
  const found = new Map<string, number>();
  for (const place of places) {
    const detected = native.detectLanguage(place);
    if (detected?.reliable) found.set(detected.language, (found.get(detected.language) ?? 0) + 1);
  }
  const [first] = [...found].sort(([, a], [, b]) => b - a);
  return first && first[1] >= SHARE_MIN * places.length ? first[0] : undefined;
}

/** The language that the beginning of a document seems to be in, certain or not; undefined where it is too short for a guess. */
export function guessedLanguage(texts: readonly string[]): string | undefined {
  return native.detectLanguage(placesOf(texts)[0]!)?.language;
}

/** Stretches of about `CHARACTERS`, evenly over the texts. */
function placesOf(texts: readonly string[]): string[] {
  const whole = texts.reduce((sum, { length }) => sum + length + 1, 0);
  const count = Math.min(PLACES, Math.max(1, Math.floor(whole / CHARACTERS)));
  const places: string[] = [];
  let [before, at] = [0, 0];
  for (let place = 0; place < count; place += 1) {
    const begin = Math.floor((place * whole) / count);
    while (at < texts.length - 1 && before + texts[at]!.length < begin) {
      before += texts[at]!.length + 1;
      at += 1;
    }
    let stretch = texts[at]?.slice(Math.max(0, begin - before), begin - before + CHARACTERS) ?? '';
    for (let next = at + 1; next < texts.length && stretch.length < CHARACTERS; next += 1)
      stretch += `\n${texts[next]!.slice(0, CHARACTERS - stretch.length)}`;
    places.push(stretch);
  }
  return places;
}
