import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeManPagesSet } from './sets/man-pages.ts';
import { makeRecordingsSet } from './sets/recordings.ts';
import sources from './sets/sources.json' with { type: 'json' };
import { makeStampsSet } from './sets/stamps.ts';
import { whereOf } from './sets/where.js';

/** `make bench-data`: sets from Debian's packages, pinned and checked, and for the others where they belong and what they are. */
const DATA = join(import.meta.dirname, 'data');
const sha256Of = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

interface Pinned {
  readonly package: string;
  readonly version: string;
  readonly sha256: string;
}

/** Content of a set: paths inside the packages. */
type Content =
  | { readonly pages: readonly string[]; readonly asked?: readonly string[] }
  | { readonly stamps: string }
  | { readonly sounds: string; readonly texts: string };

for (const [name, source] of Object.entries(sources.debian)) {
  if (whereOf(name) !== undefined) console.log(`${name.padEnd(13)} is at ${whereOf(name)}`);
  else await fetched(name, 'with' in source ? [source, source.with] : [source], source);
}
for (const [name, { what, ...rest }] of Object.entries(sources.laid)) {
  const folder = whereOf(name);
  const sums = 'sha256' in rest ? Object.entries(rest.sha256) : [];
  if (folder === undefined) {
    console.log(`${name.padEnd(13)} is not here. Lay it at ${join(DATA, name)}: ${what}`);
    continue;
  }
  const others = sums.filter(([file, sum]) => sha256Of(join(folder, file)) !== sum).map(([file]) => file);
  const said = others.length > 0 ? `; other bytes than those measured here: ${others.join(', ')}` : '';
  console.log(`${name.padEnd(13)} is at ${folder}${said}`);
}

async function fetched(name: string, packages: readonly Pinned[], content: Content): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-data-'));
  try {
    for (const pinned of packages) unpack(pinned, folder);
    mkdirSync(DATA, { recursive: true });
    const to = join(DATA, name);
    console.log(`${name.padEnd(13)} is at ${to}: ${await made(content, folder, to)}`);
  } catch (error) {
    const versioned = packages.map(({ package: debian, version }) => `${debian}=${version}`).join(' ');
    console.log(
      `${name.padEnd(13)} could not be fetched (apt-get download ${versioned}): ${(error as Error).message.split('\n')[0]}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function made(content: Content, folder: string, to: string): Promise<string> {
  if ('stamps' in content) return `${await makeStampsSet(join(folder, content.stamps), to)} pictures`;
  if ('sounds' in content)
    return `${makeRecordingsSet(join(folder, content.sounds), join(folder, content.texts), to)} recordings`;
  return `${makeManPagesSet(
    content.pages.map((one) => join(folder, one)),
    to,
    content.asked?.map((one) => join(folder, one)),
  )} manual pages`;
}

function unpack({ package: debian, version, sha256 }: Pinned, folder: string): void {
  execFileSync('apt-get', ['download', '-qq', `${debian}=${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const file = join(folder, readdirSync(folder).find((one) => one.endsWith('.deb'))!);
  const sum = sha256Of(file);
  if (sum !== sha256) throw new Error(`the package has the SHA-256 ${sum}, not ${sha256}`);
  execFileSync('dpkg-deb', ['-x', file, folder]);
  rmSync(file);
}
