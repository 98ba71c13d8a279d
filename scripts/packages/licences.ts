import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLED } from './bundled.ts';
import { ROOT } from './packing.ts';

/** The licences of other people's code inside of what is shipped. */

/** One package or crate. */
export interface Part {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly folder: string;
}

export const NOTICES = 'THIRD-PARTY-NOTICES.txt';
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|unlicense)/i;

/** Packages whose code went into a build. @param names of builds; all of them, if none is given */
export function partsOf(...names: readonly string[]): Part[] {
  const files = names.length > 0 ? names.map((name) => `${name}.json`) : readdirSync(BUNDLED);
  return files.flatMap((file) =>
    (JSON.parse(readFileSync(join(BUNDLED, file), 'utf8')) as string[]).map((path) => {
      const folder = join(ROOT, path);
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string;
        version: string;
        license?: string;
      };
      return { name, version, licence: license ?? 'see below', folder };
    }),
  );
}

/** The licences of a part, word for word. */
function textOf({ folder }: Part): string {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && LICENCE_FILE.test(entry.name),
  );
  return files.map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim()).join('\n\n');
}

/** A page with each text once, under the names of those that share it. */
export function noticesOf(found: readonly Part[]): string {
  const parts = found.toSorted(
    (a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'),
  );
  const named = new Map<string, string[]>();
  for (const part of parts) {
    const text = textOf(part);
    const name = `${part.name} ${part.version} (${part.licence})`;
    const names = named.get(text) ?? [];
    named.set(text, names.includes(name) ? names : [...names, name]);
  }
  const texts = [...named].map(([text, names]) => `${names.join('\n')}\n\n${text}`.trim());
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return `${['Farthing is made of its own code and of what follows.', ...texts].join(line)}\n`;
}
