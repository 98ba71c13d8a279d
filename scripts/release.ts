/**
 * Publishes what `make package` made: the native part first, then what depends on it, then the client. A release that was interrupted is
 * run again: what the registry has is left out. `node scripts/release.ts [--dry-run] [FOLDER]`; called by .github/workflows/release.yml.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Manifest, ROOT, readManifest } from './packing.ts';

interface Packed {
  readonly path: string;
  readonly manifest: Manifest;
}

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? join(ROOT, '.build/packages'));
const { version } = readManifest(ROOT);
const { GITHUB_REF_TYPE, GITHUB_REF_NAME, GITHUB_ACTIONS } = process.env;

const packages = inOrder(packedIn(folder));
if (packages.length === 0) stop(`${folder} has no packages: make package`);
if (GITHUB_REF_TYPE === 'tag' && GITHUB_REF_NAME !== `v${version}`)
  stop(`the tag is ${GITHUB_REF_NAME}, and package.json says ${version}`);
const strange = packages.find(({ manifest }) => manifest.version !== version);
if (strange) stop(`${strange.path} is ${strange.manifest.version}, and package.json says ${version}`);

for (const one of packages) {
  const name = `${one.manifest.name}@${version}`;
  const published = integrityOf(name);
  if (published === undefined) publish(one);
  else if (published === integrityOfFile(one.path)) console.log(`${name} is published`);
  else stop(`another ${name} is published: a release needs a new version`);
}

function packedIn(from: string): Packed[] {
  return readdirSync(from, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => {
      const path = join(from, name);
      const text = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' });
      return { path, manifest: JSON.parse(text) as Manifest };
    });
}

/** What another one asks for comes before it: who installs in between finds all of it. */
function inOrder(all: readonly Packed[]): Packed[] {
  const asks = ({ manifest }: Packed) => Object.keys((manifest.optionalDependencies ?? {}) as object);
  const isAskedFor = (one: Packed) => all.some((other) => asks(other).includes(one.manifest.name));
  return all.toSorted((a, b) => Number(isAskedFor(b)) - Number(isAskedFor(a)));
}

/** Of what the registry has; undefined where it has none. */
function integrityOf(name: string): string | undefined {
  const { status, stdout, stderr } = spawnSync('npm', ['view', name, 'dist.integrity', '--json'], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as string);
  if (/\bE404\b/.test(stdout + stderr)) return undefined;
  return stop(`the registry does not say whether it has ${name}: ${stderr.trim()}`);
}

function integrityOfFile(path: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
}

function publish({ path }: Packed): void {
  const words = ['publish', path, '--access', 'public', '--ignore-scripts'];
  // Where it came from can be proved only there: the workflow's identity signs it.
  if (GITHUB_ACTIONS) words.push('--provenance');
  if (values['dry-run']) words.push('--dry-run');
  execFileSync('npm', words, { stdio: 'inherit' });
}

function stop(why: string): never {
  console.error(`Nothing more is published: ${why}.`);
  process.exit(1);
}
