import { basename } from 'node:path';
import type { Family } from '../../domain/family.ts';
import type { FusionSettings, ListName, ListSettings } from '../../domain/fusion.ts';
import { bridgeSha256 } from './labels.ts';
import type { Manifest } from './manifest.ts';
import type { Missing, PictureTower, SpaceName, TextTower, Towers } from './tower.ts';

/** A vector space of the index: only vectors of the same model may be compared. */
export interface SpaceSpec {
  readonly name: string;
  readonly dimensions: number;
  readonly modelSha256: string;
  /** For people: the model and its file of weights. */
  readonly model: string;
}

/** What a family can do here, as `/readyz` and `openapi.json` show it. */
export interface FamilyReport {
  readonly family: Family;
  readonly available: boolean;
  /** Why the family, or one of its uses, is missing. */
  readonly reason?: string;
  readonly model?: string;
  readonly revision?: string;
  readonly provider?: string;
  readonly warmup_ms?: number;
  /** May be asked in words; by a picture. */
  readonly words: boolean;
  readonly pictures: boolean;
}

export function spacesOf(towers: Towers): SpaceSpec[] {
  const { texts, picture } = towers;
  const spaces: SpaceSpec[] = [];
  const text = texts.find(({ passageSpace }) => passageSpace);
  const of = (name: SpaceName, tower: TextTower | PictureTower) => {
    const { sha256 } = tower.candidates[0]!;
    spaces.push({
      name,
      dimensions: tower.settings.dimensions,
      modelSha256: sha256,
      model: weightsOf(tower),
    });
  };
  if (text) of('text_semantic', text);
  if (picture) of('visual_picture', picture);
  const bridged = bridgeSha256(towers);
  if (bridged) {
    const { dimensions, text: words } = picture!.bridge!;
    const model = `${weightsOf(picture!)} over ${weightsOf(texts[words]!)}`;
    spaces.push({ name: 'visual_words', dimensions, modelSha256: bridged, model });
  }
  return spaces;
}

function weightsOf({ model, candidates }: TextTower | PictureTower): string {
  const { path, provider } = candidates[0]!;
  return `${model} (${basename(path)} on ${provider})`;
}

export interface Warmups {
  readonly provider: string;
  readonly warmupMs: number;
}

/** @param warmups by model name */
export function familiesOf(
  towers: Towers,
  missing: readonly Missing[],
  warmups: ReadonlyMap<string, Warmups>,
): FamilyReport[] {
  const { texts, picture } = towers;
  const text = texts.find(({ passageSpace }) => passageSpace);
  const report = (
    family: 'text_semantic' | 'visual',
    tower: { model: string; revision: string } | undefined,
    words: boolean,
    pictures: boolean,
  ) => {
    const reasons = new Set(
      missing
        .filter((one) => one.family === family)
        .map(({ use, reason }) => (tower ? `${use}: ${reason}` : reason)),
    );
    const warmup = tower && warmups.get(tower.model);
    return {
      family,
      available: words || pictures,
      ...(reasons.size > 0 ? { reason: [...reasons].join('; ') } : {}),
      ...(tower ? { model: tower.model, revision: tower.revision } : {}),
      ...(warmup ? { provider: warmup.provider, warmup_ms: Math.round(warmup.warmupMs * 100) / 100 } : {}),
      words,
      pictures,
    };
  };
  return [
    report(
      'visual',
      picture,
      picture !== undefined && wordsSpace(towers) !== undefined,
      picture !== undefined,
    ),
    report('text_semantic', text, text !== undefined, false),
    { family: 'raw', available: true, words: true, pictures: true },
  ];
}

/** The space in which pictures are found by words. */
function wordsSpace({ texts }: Towers): SpaceName | undefined {
  return texts.flatMap(({ querySpaces }) => querySpaces).find((space) => space !== 'text_semantic');
}

/** How the lists that are served here are fused. */
export function fusionOf(manifest: Manifest, towers: Towers): FusionSettings {
  const { depth, unknown_language_share, raw_words, raw_picture } = manifest.fusion;
  const lists: Partial<Record<ListName, ListSettings>> = {
    raw_words: { family: 'raw', ...raw_words },
    raw_picture: { family: 'raw', ...raw_picture },
  };
  const add = (
    list: 'text_semantic' | 'visual_words' | 'visual_picture',
    model: string,
    space: string,
    languages?: readonly string[],
  ) => {
    const settings = manifest.models.find(({ name }) => name === model)?.lists[list];
    const family = list === 'text_semantic' ? 'text_semantic' : 'visual';
    if (settings) lists[list] = { family, space, ...settings, ...(languages ? { languages } : {}) };
  };
  for (const { model, querySpaces, settings } of towers.texts) {
    if (querySpaces.includes('text_semantic'))
      add('text_semantic', model, 'text_semantic', settings.languages);
  }
  if (towers.picture) {
    const { model } = towers.picture;
    add('visual_picture', model, 'visual_picture');
    const space = wordsSpace(towers);
    const text = towers.texts.find(({ querySpaces }) => space && querySpaces.includes(space));
    if (space) add('visual_words', model, space, text?.settings.languages);
  }
  return { depth, unknownLanguageShare: unknown_language_share, lists };
}

/** The reports after a provider was lost at run time; the same array when that is known already. */
export function withLoss(
  families: readonly FamilyReport[],
  { model, provider, reason }: { readonly model: string; readonly provider: string; readonly reason: string },
): readonly FamilyReport[] {
  if (!families.some((one) => one.model === model && one.provider === provider)) return families;
  return families.map((one) => {
    if (one.model !== model || one.provider !== provider) return one;
    const lost = `${provider} was lost at run time, the processor serves: ${reason}`;
    return { ...one, provider: 'cpu', reason: one.reason ? `${one.reason}; ${lost}` : lost };
  });
}

/** The reports with the providers that were tried at the start and failed there. */
export function withRejections(
  families: readonly FamilyReport[],
  rejected: readonly { readonly model: string; readonly provider: string; readonly reason: string }[],
): readonly FamilyReport[] {
  return families.map((one) => {
    const own = rejected.filter(({ model, provider }) => model === one.model && provider !== one.provider);
    if (own.length === 0 || !one.available) return one;
    const told = own.map(({ provider, reason }) => `${provider} was rejected: ${reason}`);
    return { ...one, reason: [...(one.reason ? [one.reason] : []), ...told].join('; ') };
  });
}
