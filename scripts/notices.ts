/**
 * Writes THIRD-PARTY-NOTICES.txt: the licences of all whose code is inside of what the package ships, be it bundled JavaScript or compiled
 * Rust. `node scripts/notices.ts`; called when the package is packed, after the builds.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { BUNDLED } from './bundled.ts';

interface Part {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly folder: string;
}

const root = resolve(import.meta.dirname, '..');
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|unlicense)/i;

/** Packages that the builds noted. */
function packages(): Part[] {
  return readdirSync(BUNDLED).flatMap((file) =>
    (JSON.parse(readFileSync(join(BUNDLED, file), 'utf8')) as string[]).map((path) => {
      const folder = join(root, path);
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string;
        version: string;
        license?: string;
      };
      return { name, version, licence: license ?? 'see below', folder };
    }),
  );
}

/** Crates that the native part is compiled from, on any platform. */
function crates(): Part[] {
  const args = ['metadata', '--format-version', '1', '--locked', '--manifest-path', 'native/Cargo.toml'];
  const metadata = execFileSync('cargo', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const found = JSON.parse(metadata) as {
    packages: {
      name: string;
      version: string;
      license: string | null;
      manifest_path: string;
      source: string | null;
    }[];
  };
  // Our own have no source.
  return found.packages
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, manifest_path }) => ({
      name,
      version,
      licence: license ?? 'see below',
      folder: dirname(manifest_path),
    }));
}

/** The licences of a part, word for word. */
function textOf({ folder }: Part): string {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && LICENCE_FILE.test(entry.name),
  );
  return files.map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim()).join('\n\n');
}

const parts = [...packages(), ...crates()].sort(
  (a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'),
);
/** Names by the text that they share. */
const named = new Map<string, string[]>();
for (const part of parts) {
  const text = textOf(part);
  const name = `${part.name} ${part.version} (${part.licence})`;
  const names = named.get(text) ?? [];
  named.set(text, names.includes(name) ? names : [...names, name]);
}
const texts = [...named].map(([text, names]) => `${names.join('\n')}\n\n${text}`.trim());
const line = `\n\n${'-'.repeat(80)}\n\n`;
writeFileSync(
  join(root, 'THIRD-PARTY-NOTICES.txt'),
  `${['Farthing is made of its own code and of what follows.', ...texts].join(line)}\n`,
);
console.log(`${parts.length} packages and crates, ${texts.length} licences`);
