import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What the scripts that make packages and publish them share. */

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

export const ROOT = resolve(import.meta.dirname, '../..');

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function writeManifest(folder: string, content: object): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
}

/** The repository that a release is built in, as the proof of its origin names it; nothing elsewhere. */
export function origin(): { repository?: { type: 'git'; url: string } } {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {};
}

interface Pack {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** @returns the name of the file */
export function pack(folder: string, into: string): string {
  return npmPack(folder, ['--pack-destination', into]).filename;
}

/** What would be packed, as paths below the folder. */
export function packedPaths(folder: string): string[] {
  return npmPack(folder, ['--dry-run']).files.map(({ path }) => path);
}

function npmPack(folder: string, words: readonly string[]): Pack {
  const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--loglevel=error', ...words], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return Object.values(JSON.parse(said) as Pack[] | Record<string, Pack>)[0]!;
}

/** SHA-256 of the names and contents of files; of what people alone read, and of the manifest, neither. @param names below the folder */
export function digestOf(folder: string, names: readonly string[]): string {
  const all = createHash('sha256');
  for (const name of names.filter((one) => !/^(?:README\.md|package\.json)$/.test(one)).toSorted()) {
    const own = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    all.update(`${own}  ${name}\n`);
  }
  return all.digest('hex');
}
