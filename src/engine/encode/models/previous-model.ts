import type { SpaceSpec } from '../../space.ts';
import { findInstalled, type Installed } from './installed.ts';
import {
  ENCODING_ROLES,
  type EncodingRole,
  type EncodingRoleName,
  type Manifest,
  type ManifestModel,
  type ManifestVariant,
} from './manifest.ts';
import { nativeSha256, withNative } from './native-weights.ts';
import { servedSpaces } from './served-spaces.ts';
import type { Verification } from './verification.ts';

/** A space, and what filled it. */
export type FilledBy = Pick<SpaceSpec, 'name' | 'modelSha256'>;

export interface PreviousModel {
  readonly manifest: Manifest;
  readonly installed: Installed;
}

/**
 * The model that filled a space, in use or not, with exactly those weights and their arithmetic. They may run on the processor, whatever provider
 * they were made for. Undefined when the manifest has no such weights, or their files are not installed.
 */
export async function findPreviousModel(
  manifest: Manifest,
  folder: string,
  verification: Verification,
  { name: role, modelSha256 }: FilledBy,
): Promise<PreviousModel | undefined> {
  for (const candidate of manifestsFor(manifest, { name: role, modelSha256 })) {
    const installed = await findInstalled(candidate, folder, verification, 'auto');
    for (const towers of [installed.towers, withNative(installed.towers, 'native')]) {
      const spaces = servedSpaces(candidate, towers);
      if (spaces.some((space) => space.name === role && space.modelSha256 === modelSha256))
        return {
          manifest: candidate,
          installed: { towers, missing: installed.missing, passedOver: installed.passedOver },
        };
    }
  }
  return undefined;
}

/** Manifests with one model in use and one file of weights for it; for label bridges, one of each combination. */
function* manifestsFor(manifest: Manifest, { name: wanted, modelSha256 }: FilledBy): Generator<Manifest> {
  for (const [role, { space, part, bridge }] of Object.entries(ENCODING_ROLES) as [
    EncodingRoleName,
    EncodingRole,
  ][])
    for (const model of manifest.models.filter(({ family }) => family === role)) {
      if (wanted === space) {
        for (const file of filesOf(model, part, modelSha256))
          yield inUse(manifest, { [role]: model.name }, [withoutLabels(withFile(model, part, file))]);
      } else if (wanted === bridge && model.picture?.labels) {
        yield* bridges(manifest, role, model, model.picture.labels.text_model);
      }
    }
}

function* bridges(
  manifest: Manifest,
  role: EncodingRoleName,
  model: ManifestModel,
  textModel: string,
): Generator<Manifest> {
  const text = manifest.models.find(({ name }) => name === textModel);
  for (const file of filesOf(model, 'picture'))
    for (const words of text ? filesOf(text, 'text') : [])
      yield inUse(manifest, { [role]: model.name }, [
        withFile(model, 'picture', file),
        withFile(text!, 'text', words),
      ]);
}

/** Names of a part's files with weights; only those with one SHA-256 where it is given. */
function filesOf(model: ManifestModel, part: EncodingRole['part'], sha256?: string): Set<string> {
  const variants: readonly ManifestVariant[] = model[part]?.variants ?? [];
  const names = variants.map(({ file }) => file);
  const made = (file: string | undefined) =>
    file !== undefined && (file === sha256 || nativeSha256(file) === sha256);
  return new Set(names.filter((name) => sha256 === undefined || made(model.files[name]?.sha256)));
}

function withFile(model: ManifestModel, part: EncodingRole['part'], file: string): ManifestModel {
  const described = model[part];
  if (!described) return model;
  const variants = described.variants.filter((variant) => variant.file === file);
  const anywhere = variants.some(({ providers }) => providers.includes('cpu'))
    ? variants
    : variants.map((variant) => ({ ...variant, providers: [...variant.providers, 'cpu' as const] }));
  return { ...model, [part]: { ...described, variants: anywhere } };
}

function withoutLabels(model: ManifestModel): ManifestModel {
  if (!model.picture?.labels) return model;
  const { labels: _, ...picture } = model.picture;
  return { ...model, picture };
}

function inUse(manifest: Manifest, use: Manifest['use'], changed: readonly ManifestModel[]): Manifest {
  const models = manifest.models.map((model) => changed.find(({ name }) => name === model.name) ?? model);
  return { ...manifest, use, models };
}
