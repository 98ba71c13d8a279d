import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { native } from '../../native/index.ts';
import { type Failure, onProcessor, type Tower, type Towers } from './tower.ts';

/** How the native encoder and ONNX Runtime compared on this machine. */
export interface Comparison {
  readonly serves: 'native' | 'cpu';
  /** Why the other does not serve. */
  readonly reason: string;
}

/** By {@link comparisonName}. */
export type Comparisons = Readonly<Record<string, Comparison>>;

const NAME = 'processor-comparisons.json';

/**
 * What a comparison depends on: the weights, both encoders, and the processor with its instructions.
 * @returns undefined for a tower that has nothing to compare, or could run on a GPU
 */
export function comparisonName({ model, kind, candidates }: Tower): string | undefined {
  if (candidates.length < 2 || !candidates.every(onProcessor)) return undefined;
  const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string };
  const weights = candidates.map(({ sha256, sessionOptions = {} }) => [sha256, sessionOptions]);
  const made = [weights, version, native.encoderKernelName(), cpus()[0]?.model];
  return `${model} ${kind} ${createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)}`;
}

/** Empty where the file is absent or damaged: then they are compared anew. */
export async function readComparisons(cacheFolder: string): Promise<Comparisons> {
  try {
    const value: unknown = JSON.parse(await readFile(join(cacheFolder, NAME), 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Comparisons) : {};
  } catch {
    return {};
  }
}

/** Towers whose candidates were compared before, each with the one that serves. */
export function withComparisons(towers: Towers, kept: Comparisons): Towers {
  return towers.map((tower) => {
    const serves = kept[comparisonName(tower) ?? '']?.serves;
    const chosen = tower.candidates.filter(({ provider }) => provider === serves);
    return chosen.length > 0 ? { ...tower, candidates: chosen } : tower;
  });
}

/** What a start found out about the towers that it had to compare. */
export function comparisonsOf(
  towers: Towers,
  {
    towers: chosen,
    rejected,
    slower,
  }: { readonly towers: Towers } & Readonly<Record<'rejected' | 'slower', readonly Failure[]>>,
): Comparisons {
  const found = towers.flatMap((tower) => {
    const name = comparisonName(tower);
    const serving = chosen.find(({ kind, model }) => kind === tower.kind && model === tower.model)
      ?.candidates[0];
    if (name === undefined || !serving || !onProcessor(serving)) return [];
    const other = [...rejected, ...slower].find(
      ({ model, provider }) => model === tower.model && provider !== serving.provider,
    );
    return [[name, { serves: serving.provider, reason: other?.reason ?? '' }] as const];
  });
  return Object.fromEntries(found) as Comparisons;
}

/** Adds comparisons to those that are kept. */
export async function saveComparisons(
  cacheFolder: string,
  kept: Comparisons,
  found: Comparisons,
): Promise<void> {
  if (Object.keys(found).length === 0) return;
  const comparisons = { ...kept, ...found };
  await mkdir(cacheFolder, { recursive: true });
  const path = join(cacheFolder, NAME);
  const written = `${path}.${randomUUID()}.new`;
  await writeFile(written, JSON.stringify(comparisons, null, 1));
  await rename(written, path);
}
