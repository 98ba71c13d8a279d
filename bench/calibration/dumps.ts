import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { isBeirSet, whereOf } from '../sets/where.js';
import { type Collection, encodedCollection } from './collection.ts';
import { type Dump, dumpCollection } from './dump.ts';
import { ENCODER } from './encoder.ts';

/** Folders of SETS that are there; the others are reported. */
function folders(): string[] {
  return process.env.SETS!.split(',').flatMap((name) => {
    const folder = whereOf(name);
    if (folder !== undefined && isBeirSet(folder)) return folder;
    console.log(`left out: there is no set "${name}"`);
    return [];
  });
}

/** For each of SETS, by its name, the candidates of its queries; from the cache folder if they are there and FRESH is empty. */
export async function dumpsOf(encoder: Encoder): Promise<ReadonlyMap<string, Dump>> {
  const model = encoder.spaces.find(({ name }) => name === 'text_semantic')?.modelSha256;
  const { cacheFolder } = ENCODER;
  const pathOf = (folder: string) => join(cacheFolder, `candidates-${basename(folder)}-${model}.json`);
  const collections = new Map<string, Collection>();
  if (process.env.FRESH || folders().some((folder) => !existsSync(pathOf(folder))))
    for (const folder of folders())
      collections.set(folder, await encodedCollection(encoder, folder, cacheFolder));
  const dumps = new Map<string, Dump>();
  for (const folder of folders()) {
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
