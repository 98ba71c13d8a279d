import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tower, Towers } from './tower.ts';

/** SHA-256 of the weights that the last start chose, and that filled the indexes, by model and part. */
export type ChosenWeights = Readonly<Record<string, string>>;

const NAME = 'chosen-weights.json';

/** Empty where the file is absent or damaged: then the faster weights are chosen. */
export async function readChosenWeights(cacheFolder: string): Promise<ChosenWeights> {
  try {
    const value: unknown = JSON.parse(await readFile(join(cacheFolder, NAME), 'utf8'));
    return typeof value === 'object' && value !== null ? (value as ChosenWeights) : {};
  } catch {
    return {};
  }
}

/** Adds what serves now to what is remembered of other models. */
export async function saveChosenWeights(
  cacheFolder: string,
  before: ChosenWeights,
  towers: Towers,
): Promise<void> {
  const chosen = Object.fromEntries(
    towers.flatMap((tower) => (tower.candidates[0] ? [[nameOf(tower), tower.candidates[0].sha256]] : [])),
  );
  if (Object.entries(chosen).every(([name, sha256]) => before[name] === sha256)) return;
  await mkdir(cacheFolder, { recursive: true });
  const path = join(cacheFolder, NAME);
  const written = `${path}.${randomUUID()}.new`;
  await writeFile(written, JSON.stringify({ ...before, ...chosen }, null, 1));
  await rename(written, path);
}

/** The weights that each tower had at the last start. */
export function previousWeights(towers: Towers, chosen: ChosenWeights): (string | undefined)[] {
  return towers.map((tower) => chosen[nameOf(tower)]);
}

function nameOf({ model, kind }: Tower): string {
  return `${model} ${kind}`;
}
