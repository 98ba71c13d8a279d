import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { isBeirSet, whereOf } from '../sets/where.js';
import { type Collection, encodedCollection } from './collection.ts';
import { type Dump, dumpCollection } from './dump.ts';

/** Folders of the sets that are named and there; the others are told. @param names separated by commas */
export function foldersOf(names: string): string[] {
  return names.split(',').flatMap((name) => {
    const folder = whereOf(name);
    if (folder !== undefined && isBeirSet(folder)) return folder;
    console.log(`left out: there is no set "${name}"`);
    return [];
  });
}

/** What each set's queries find, by its name; from the cache folder if it is there and `fresh` is not asked for. */
export async function dumpsOf(
  encoder: Encoder,
  folders: readonly string[],
  { cacheFolder, fresh }: { readonly cacheFolder: string; readonly fresh: boolean },
): Promise<ReadonlyMap<string, Dump>> {
  const model = encoder.spaces.find(({ name }) => name === 'text_semantic')?.modelSha256;
  const pathOf = (folder: string) => join(cacheFolder, `candidates-${basename(folder)}-${model}.json`);
  const collections = new Map<string, Collection>();
  if (fresh || folders.some((folder) => !existsSync(pathOf(folder))))
    for (const folder of folders)
      collections.set(folder, await encodedCollection(encoder, folder, cacheFolder));
  const dumps = new Map<string, Dump>();
  for (const folder of folders) {
    const path = pathOf(folder);
    const collection = collections.get(folder);
    if (collection) {
      const others = [...collections.values()].filter((other) => other !== collection);
      writeFileSync(path, JSON.stringify(await dumpCollection(encoder, collection, others)));
    }
    dumps.set(basename(folder), JSON.parse(readFileSync(path, 'utf8')) as Dump);
  }
  return dumps;
}

/** Names, numbers and codes out of the texts of a set; the others are its own queries. */
export const isExact = ({ id }: { readonly id: string }): boolean => id.startsWith('exact ');
