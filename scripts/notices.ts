/**
 * Writes THIRD-PARTY-NOTICES.txt: the licences of all whose code is inside of what the package ships, be it bundled JavaScript or compiled
 * Rust. `node scripts/notices.ts`; called when the package is packed, after the builds.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cargoTarget } from './cargo.ts';
import { NOTICES, noticesOf, type Part, partsOf } from './packages/licences.ts';
import { ROOT } from './packages/packing.ts';
import { readWords } from './words.ts';

/** A line that cargo writes of what it built. */
interface Artifact {
  readonly reason: string;
  readonly manifest_path: string;
  readonly target: { readonly kind: readonly string[] };
}

readWords({ command: 'notices.ts', does: `Writes ${NOTICES} from what the builds noted.` });

/** Crates whose code is in the addon. What cargo says of the build that is here, because `cargo metadata` would download those of other platforms. */
function crates(): Part[] {
  const build = [
    'build',
    '--release',
    '--locked',
    '--offline',
    '--target',
    cargoTarget(),
    '-p',
    'farthing-napi',
  ];
  const args = [...build, '--quiet', '--manifest-path', 'native/Cargo.toml', '--message-format', 'json'];
  const lines = execFileSync('cargo', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 })
    .trim()
    .split('\n');
  const artifacts = lines.map((line) => JSON.parse(line) as Artifact);
  const folders = artifacts
    .filter(({ reason, target }) => reason === 'compiler-artifact' && target.kind.includes('lib'))
    .map(({ manifest_path }) => dirname(manifest_path))
    .filter((folder) => !folder.startsWith(`${ROOT}/`));
  return [...new Set(folders)].map((folder) => {
    const manifest = readFileSync(join(folder, 'Cargo.toml'), 'utf8');
    const value = (key: string) => new RegExp(`^${key} = "(.*)"`, 'm').exec(manifest)?.[1];
    return {
      name: value('name')!,
      version: value('version')!,
      licence: value('license') ?? 'see below',
      folder,
    };
  });
}

const parts = [...partsOf(), ...crates()];
writeFileSync(join(ROOT, NOTICES), noticesOf(parts));
console.log(`${parts.length} packages and crates`);
