import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rows of the tables in docs/attacks.md, of some sections: attack → outcome. */
export function documentedAttacks(isAsked: (section: string) => boolean): Record<string, string> {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/attacks.md'), 'utf8');
  const sections = text.split(/^## /m).filter((section) => isAsked(section.split('\n', 1)[0]!));
  const rows = sections.join('').matchAll(/^\| (?!attack |---)(.+?) \| (.+?) \|$/gm);
  return Object.fromEntries([...rows].map(([, attack, outcome]) => [attack!, outcome!.replaceAll('`', '')]));
}
