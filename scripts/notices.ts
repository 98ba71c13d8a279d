/**
 * Writes THIRD-PARTY-NOTICES.txt: the licences of all whose code is inside of what the package ships, be it bundled JavaScript or compiled
 * Rust. `node scripts/notices.ts`; called when the package is packed, after the builds.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cargoTarget } from './cargo.ts';
import { NOTICES, noticesOf, type Part, partsOf } from './packages/licences.ts';
import { ROOT } from './packages/packing.ts';
import { readWords } from './words.ts';

readWords({ command: 'notices.ts', does: `Writes ${NOTICES} from what the builds noted.` });

/**
 * Crates whose code is in the addon, as cargo resolves them for this platform: `cargo metadata` would download those of others, and a build
 * would wait for one that runs.
 */
function crates(): Part[] {
  const options = ['--locked', '--offline', '--edges', 'normal', '--prefix', 'none', '--no-dedupe'];
  const places = ['--manifest-path', 'native/Cargo.toml', '-p', 'farthing-napi', '--target', cargoTarget()];
  const lines = execFileSync('cargo', ['tree', ...options, ...places, '--format', '{p}|{l}'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n');
  // A crate of ours has its folder behind its version, and a procedural macro leaves no code.
  const linked = new Set(lines.filter((line) => /^\S+ v\S+\|/.test(line)));
  const sources = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry/src');
  const registries = readdirSync(sources).map((name) => join(sources, name));
  return [...linked].map((line) => {
    const [, name, version, licence] = /^(\S+) v(\S+)\|(.*)$/.exec(line) as unknown as string[];
    const folder = registries.map((one) => join(one, `${name}-${version}`)).find((one) => existsSync(one));
    if (!folder) throw new Error(`the source of the crate ${name} ${version} is not in ${sources}`);
    return { name: name!, version: version!, licence: licence || 'see below', folder };
  });
}

const parts = [...partsOf(), ...crates()];
writeFileSync(join(ROOT, NOTICES), noticesOf(parts));
console.log(`${parts.length} packages and crates`);
