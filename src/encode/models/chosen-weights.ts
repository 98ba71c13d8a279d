import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Towers } from './tower.ts';

/** By model and part: SHA-256 of the weights that the last start chose, and that the indexes are filled by. */
export type ChosenWeights = Readonly<Record<string, string>>;

const NAME = 'chosen-weights.json';

/** Nothing where the file is absent or damaged: then the faster weights are chosen. */
export async function readChosenWeights(cacheFolder: string): Promise<ChosenWeights> {
  try {
    const value: unknown = JSON.parse(await readFile(join(cacheFolder, NAME), 'utf8'));
    return typeof value === 'object' && value !== null ? (value as ChosenWeights) : {};
  } catch {
    return {};
  }
}

/** Remembers what serves now, beside what is known of models that don't. */
export async function saveChosenWeights(
  cacheFolder: string,
  before: ChosenWeights,
  towers: Towers,
): Promise<void> {
  const chosen = Object.fromEntries(
    partsOf(towers).flatMap(([name, candidates]) => (candidates[0] ? [[name, candidates[0].sha256]] : [])),
  );
  if (Object.entries(chosen).every(([name, sha256]) => before[name] === sha256)) return;
  await mkdir(cacheFolder, { recursive: true });
  const path = join(cacheFolder, NAME);
  const written = `${path}.${randomUUID()}.new`;
  await writeFile(written, JSON.stringify({ ...before, ...chosen }, null, 1));
  await rename(written, path);
}

/** The weights that each tower had, the texts first. */
export function formerWeights(towers: Towers, chosen: ChosenWeights): (string | undefined)[] {
  return partsOf(towers).map(([name]) => chosen[name]);
}

function partsOf({
  texts,
  picture,
}: Towers): [name: string, candidates: Towers['texts'][number]['candidates']][] {
  return [
    ...texts.map(({ model, candidates }) => [`${model} text`, candidates] as [string, typeof candidates]),
    ...(picture
      ? [[`${picture.model} picture`, picture.candidates] as [string, typeof picture.candidates]]
      : []),
  ];
}
