/**
 * Writes what docs/files.md and docs/api.md say of the formats anew, from src/readers/formats.ts. `node --no-warnings scripts/format-docs.ts`;
 * called by `make docs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { HOW_READ, READABLE_NAMES } from '../src/readers/formats.ts';
import { readWords } from './words.ts';

readWords({
  command: 'format-docs.ts',
  does: 'Writes what docs/ says of the formats from src/readers/formats.ts.',
});

const WIDTH = 100;

const rows = Object.entries(HOW_READ).map(([names, how]) => `| ${names} | ${how} |`.replaceAll('  |', ' |'));
rewrite('docs/files.md', /(?<=\|---\|---\|---\|---\|---\|\n).*?(?=\n\n)/s, () => rows.join('\n'));
rewrite('docs/api.md', /- An upload is one file [^:]*: .*? is read\.\n/s, (bullet) =>
  wrapped(bullet.replace(/(?<=: ).*?(?= Anything else)/s, `${READABLE_NAMES}.`)),
);

/** Puts another text in the place of what a page has there now. */
function rewrite(page: string, place: RegExp, text: (before: string) => string): void {
  writeFileSync(page, readFileSync(page, 'utf8').replace(place, text));
}

/** A bullet of a list, in lines within the width. */
function wrapped(bullet: string): string {
  let line = '';
  const lines: string[] = [];
  for (const word of bullet.split(/\s+/)) {
    if (`${line} ${word}`.length > WIDTH) {
      lines.push(line);
      line = ` `;
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return `${[...lines, line].join('\n').trimEnd()}\n`;
}
