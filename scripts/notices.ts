/**
 * Writes THIRD-PARTY-NOTICES.txt: the licences of all whose code is inside of what the package ships, be it bundled JavaScript or compiled
 * Rust. `node scripts/notices.ts`; called when the package is packed, after the builds.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NOTICES, noticesOf, type Part, partsOf } from './packages/licences.ts';
import { ROOT } from './packages/packing.ts';
import { readWords } from './words.ts';

readWords({ command: 'notices.ts', does: `Writes ${NOTICES} from what the builds noted.` });

/** Crates that the native part is compiled from, on any platform. */
function crates(): Part[] {
  const args = ['metadata', '--format-version', '1', '--locked', '--manifest-path', 'native/Cargo.toml'];
  const metadata = execFileSync('cargo', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 });
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

const parts = [...partsOf(), ...crates()];
writeFileSync(join(ROOT, NOTICES), noticesOf(parts));
console.log(`${parts.length} packages and crates`);
