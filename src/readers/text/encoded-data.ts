/** A text without spaces of this length is data: a picture, a key, a vector. */
const DATA_LENGTH_MIN = 400;
/** Data in lines: each but the last is as long as these programs break it. */
const LINE = /^[A-Za-z0-9+/]{40,100}={0,2}$/;
/** Sealed and signed parts of a text (RFC 9580, 6.2; RFC 7468), up to their ends. */
const ARMOURED =
  /^-----BEGIN ([A-Z0-9 ]{1,40})-----[ \t]*\n(?:[^\n]{0,200}\n){0,20000}?-----END \1-----[ \t]*$/gm;

/** Base64, or another text that nobody reads. */
export function isData(text: string): boolean {
  if (/^data:[^,\s]{0,100};base64,/.test(text)) return true;
  if (text.length < DATA_LENGTH_MIN) return false;
  const tokens = text.split(/\s+/).filter(Boolean);
  return text.length >= tokens.length * 40 && tokens.every((token) => /^[\w+/=-]+$/.test(token));
}

/** A text without the parts that are data in letters, and how many there were. */
export function withoutData(text: string): { readonly text: string; readonly count: number } {
  let count = 0;
  const open = text.replace(ARMOURED, (part, kind: string) => {
    // What is only signed can be read.
    if (kind === 'PGP SIGNED MESSAGE') return part;
    count++;
    return '';
  });
  if (!/^[A-Za-z0-9+/]{40,100}={0,2}$/m.test(open)) return { text: open, count };
  const kept: string[] = [];
  let run: string[] = [];
  const flush = (): void => {
    // Words of one line may look like it; data has both cases and digits in lines of one length.
    const isLong = run.join('').length >= DATA_LENGTH_MIN;
    if (isLong && /[A-Z]/.test(run[0]!) && /[a-z]/.test(run[0]!) && /\d/.test(run.join(''))) count++;
    else kept.push(...run);
    run = [];
  };
  for (const line of open.split('\n')) {
    const isNext = LINE.test(line) || (run.length > 0 && /^[A-Za-z0-9+/]{1,100}={0,2}$/.test(line));
    if (isNext) run.push(line);
    else {
      if (run.length > 0) flush();
      kept.push(line);
    }
  }
  flush();
  return { text: kept.join('\n'), count };
}
