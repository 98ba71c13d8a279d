import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What `package.ts` and `package-client.ts` share. */

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

export const ROOT = resolve(import.meta.dirname, '..');

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

/** @returns the name of the file */
export function pack(folder: string, into: string): string {
  const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', into], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const answer = JSON.parse(said) as { filename: string }[] | Record<string, { filename: string }>;
  return Object.values(answer)[0]!.filename;
}
