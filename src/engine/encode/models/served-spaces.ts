import { basename } from 'node:path';
import type { InputKind, SpaceName } from '@farthing/protocol/family';
import type { SpaceSpec } from '../../space.ts';
import { bridgeSha256 } from './labels.ts';
import type { Manifest, ManifestModel } from './manifest.ts';
import { type Failure, type Tower, type Towers, textTowerOf } from './tower.ts';

/** A vector space that is served here, and the model that fills it. */
export interface ServedSpace extends SpaceSpec {
  readonly name: SpaceName;
  readonly model: string;
  readonly revision: string;
  readonly provider: string;
  /** For people: the model, its file of weights and its provider. */
  readonly weights: string;
  /** Median milliseconds of one query when the model was opened. */
  readonly warmupMs?: number;
  /** For people: providers that were rejected at the start or lost since. */
  readonly notes: readonly string[];
  /** Supported queries. `languages`: ISO 639-3 codes that the query's model knows; absent: any. */
  readonly asksWith: Readonly<Partial<Record<InputKind, { readonly languages?: readonly string[] }>>>;
  /** The manifest's settings of the lists that the model serves. */
  readonly lists: ManifestModel['lists'];
}

/** @param warmupMsOf measured when a tower was opened */
export function servedSpaces(
  { models }: Manifest,
  towers: Towers,
  warmupMsOf: (tower: Tower) => number | undefined = () => undefined,
): ServedSpace[] {
  const spaces: ServedSpace[] = [];
  const add = (tower: Tower, spec: Pick<ServedSpace, 'name' | 'dimensions' | 'modelSha256' | 'weights'>) => {
    const { model, revision } = tower;
    const warmupMs = warmupMsOf(tower);
    const asking = towers.filter(({ searches }) => searches.includes(spec.name));
    spaces.push({
      ...spec,
      model,
      revision,
      provider: tower.candidates[0]!.provider,
      ...(warmupMs !== undefined && { warmupMs }),
      notes: [],
      asksWith: Object.fromEntries(asking.map((asks) => [asks.kind, languagesOf(asks)])),
      lists: models.find(({ name }) => name === model)?.lists ?? {},
    });
  };
  for (const tower of towers) {
    const { dimensions } = tower.settings;
    const { sha256: modelSha256 } = tower.candidates[0]!;
    if (tower.fills) add(tower, { name: tower.fills, dimensions, modelSha256, weights: weightsOf(tower) });
  }
  for (const tower of towers) {
    if (tower.kind !== 'picture' || !tower.bridge) continue;
    const { space: name, dimensions, textModel } = tower.bridge;
    const weights = `${weightsOf(tower)} over ${weightsOf(textTowerOf(towers, textModel)!)}`;
    add(tower, { name, dimensions, modelSha256: bridgeSha256(towers, tower, tower.bridge), weights });
  }
  return spaces;
}

function weightsOf({ model, candidates }: Tower): string {
  const { path, provider } = candidates[0]!;
  return `${model} (${basename(path)} on ${provider})`;
}

function languagesOf(tower: Tower): { languages?: readonly string[] } {
  return tower.kind === 'text' && tower.settings.languages ? { languages: tower.settings.languages } : {};
}

/** The spaces after a provider was lost at run time; the same array when that is known already. */
export function withLoss(
  spaces: readonly ServedSpace[],
  { model, provider, reason }: Failure,
): readonly ServedSpace[] {
  const isLost = (space: ServedSpace) => space.model === model && space.provider === provider;
  if (!spaces.some(isLost)) return spaces;
  const note = `${provider} was lost at run time, the processor serves: ${reason}`;
  return spaces.map((space) =>
    isLost(space) ? { ...space, provider: 'cpu', notes: [...space.notes, note] } : space,
  );
}

/** The spaces with notes of the providers that failed at the start. */
export function withRejections(spaces: readonly ServedSpace[], rejected: readonly Failure[]): ServedSpace[] {
  return spaces.map((space) => {
    const notes = rejected
      .filter(({ model, provider }) => model === space.model && provider !== space.provider)
      .map(({ provider, reason }) => `${provider} was rejected: ${reason}`);
    return notes.length > 0 ? { ...space, notes: [...space.notes, ...notes] } : space;
  });
}
