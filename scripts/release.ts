/**
 * Publishes what `make package` made: the native part and the models first, then what depends on them, then the client. A release that
 * was interrupted is run again: what the registry has is left out. `node scripts/release.ts [--dry-run] [FOLDER]`; called by .github/workflows/release.yml.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Manifest, ROOT, readManifest } from './packages/packing.ts';
import { readWords } from './words.ts';

interface Packed {
  readonly path: string;
  readonly manifest: Manifest;
}

const { words, flags } = readWords({
  command: 'release.ts [--dry-run] [FOLDER]',
  does: 'Publishes the packages in FOLDER (.build/packages) that the registry lacks. --dry-run publishes nothing.',
  most: 1,
  flags: ['dry-run'],
});
const folder = resolve(words[0] ?? join(ROOT, '.build/packages'));
const { version } = readManifest(ROOT);
/** They have their own version: most releases bring the same. */
const models = readManifest(join(ROOT, 'models'));
const { GITHUB_REF_TYPE, GITHUB_REF_NAME, GITHUB_ACTIONS } = process.env;

const packages = inOrder(packedIn(folder));
if (packages.length === 0) stop(`${folder} has no packages: make package`);
if (GITHUB_REF_TYPE === 'tag' && GITHUB_REF_NAME !== `v${version}`)
  stop(`the tag is ${GITHUB_REF_NAME}, and package.json says ${version}`);
for (const { path, manifest } of packages) {
  const due = manifest.name === models.name ? models.version : version;
  if (manifest.version !== due) stop(`${path} is ${manifest.version}, and package.json says ${due}`);
}

for (const one of packages) {
  const name = `${one.manifest.name}@${one.manifest.version}`;
  const published = publishedOf(name);
  if (published === undefined) publish(one);
  else if (isSame(published, one)) console.log(`${name} is published`);
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
  const asks = ({ manifest: { dependencies, optionalDependencies } }: Packed) =>
    Object.keys({ ...dependencies, ...(optionalDependencies as object | undefined) });
  const isAskedFor = (one: Packed) => all.some((other) => asks(other).includes(one.manifest.name));
  return all.toSorted((a, b) => Number(isAskedFor(b)) - Number(isAskedFor(a)));
}

interface Published {
  readonly 'dist.integrity': string;
  /** Of the models. */
  readonly contents?: string;
}

/** What the registry has; undefined where it has none. */
function publishedOf(name: string): Published | undefined {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['view', name, 'name', 'dist.integrity', 'contents', '--json'],
    { encoding: 'utf8' },
  );
  if (status === 0) return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as Published);
  if (/\bE404\b/.test(stdout + stderr)) return undefined;
  return stop(`the registry does not say whether it has ${name}: ${stderr.trim()}`);
}

/** The models are packed anew for each release, perhaps by another compressor: their contents count. */
function isSame(published: Published, { path, manifest }: Packed): boolean {
  if (manifest.contents !== undefined) return published.contents === manifest.contents;
  const digest = createHash('sha512').update(readFileSync(path)).digest('base64');
  return published['dist.integrity'] === `sha512-${digest}`;
}

function publish({ path }: Packed): void {
  const words = ['publish', path, '--access', 'public', '--ignore-scripts'];
  // Where it came from can be proved only there: the workflow's identity signs it.
  if (GITHUB_ACTIONS) words.push('--provenance');
  if (flags.has('dry-run')) words.push('--dry-run');
  execFileSync('npm', words, { stdio: 'inherit' });
}

function stop(why: string): never {
  console.error(`Nothing more is published: ${why}.`);
  process.exit(1);
}
