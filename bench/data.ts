import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeManPagesSet } from './sets/man-pages.ts';
import sources from './sets/sources.json' with { type: 'json' };
import { makeStampsSet } from './sets/stamps.ts';
import { whereOf } from './sets/where.js';

/** `make bench-data`: sets from Debian's packages, pinned and checked, and for the others where they belong and what they are. */
const DATA = join(import.meta.dirname, 'data');
const sha256Of = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

for (const [name, { package: debian, version, sha256, ...content }] of Object.entries(sources.debian)) {
  if (whereOf(name) !== undefined) console.log(`${name.padEnd(10)} is at ${whereOf(name)}`);
  else await fetched(name, `${debian}=${version}`, sha256, content);
}
for (const [name, { what, ...rest }] of Object.entries(sources.laid)) {
  const folder = whereOf(name);
  const sums = 'sha256' in rest ? Object.entries(rest.sha256) : [];
  if (folder === undefined) {
    console.log(`${name.padEnd(10)} is not here. Lay it at ${join(DATA, name)}: ${what}`);
    continue;
  }
  const others = sums.filter(([file, sum]) => sha256Of(join(folder, file)) !== sum).map(([file]) => file);
  const said = others.length > 0 ? `; other bytes than those measured here: ${others.join(', ')}` : '';
  console.log(`${name.padEnd(10)} is at ${folder}${said}`);
}

async function fetched(
  name: string,
  versioned: string,
  sha256: string,
  content: { readonly pages: readonly string[] } | { readonly stamps: string },
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-data-'));
  try {
    execFileSync('apt-get', ['download', '-qq', versioned], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const file = join(folder, readdirSync(folder).find((one) => one.endsWith('.deb'))!);
    const sum = sha256Of(file);
    if (sum !== sha256) throw new Error(`the package has the SHA-256 ${sum}, not ${sha256}`);
    execFileSync('dpkg-deb', ['-x', file, folder]);
    mkdirSync(DATA, { recursive: true });
    const to = join(DATA, name);
    const made =
      'stamps' in content
        ? `${await makeStampsSet(join(folder, content.stamps), to)} pictures`
        : `${makeManPagesSet(
            content.pages.map((one) => join(folder, one)),
            to,
          )} manual pages`;
    console.log(`${name.padEnd(10)} is at ${to}: ${made}`);
  } catch (error) {
    console.log(
      `${name.padEnd(10)} could not be fetched (apt-get download ${versioned}): ${(error as Error).message.split('\n')[0]}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
