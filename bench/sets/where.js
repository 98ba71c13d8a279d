import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Where data of the benches lies, in plain JavaScript: `make bench` asks before anything is installed, whatever the host's Node.
 * In the tree is the set `jargon`; `make bench-data` brings or names the others.
 */
const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');
const FOLDERS = ['bench/sets', 'bench/data', '../shared/data/text', '../shared/data', '../shared/models'].map((folder) =>
  resolve(root, folder),
);

export const whereOf = (name) =>
  [...FOLDERS.map((folder) => join(folder, name)), resolve(name)].find((path) => existsSync(path));

export const isBeirSet = (folder) =>
  ['corpus.jsonl', 'queries.jsonl'].every((name) => existsSync(join(folder, name)));
