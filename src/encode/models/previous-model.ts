import { findInstalled, type Installed } from './installed.ts';
import { bridgeSha256 } from './labels.ts';
import type { Manifest, ManifestModel, ManifestVariant } from './manifest.ts';
import type { Verification } from './verification.ts';

/** A space and the model that filled it. */
export interface FilledSpace {
  readonly role: string;
  readonly modelSha256: string;
}

export interface FormerModel {
  readonly manifest: Manifest;
  readonly installed: Installed;
}

/**
 * The model that filled a space, whether it is in use or not, with exactly those weights; they may run on the processor,
 * whatever they were made for. Undefined when the manifest has no such weights, or their files are not installed.
 */
export async function findFormer(
  manifest: Manifest,
  folder: string,
  verification: Verification,
  wanted: FilledSpace,
): Promise<FormerModel | undefined> {
  for (const candidate of manifestsFor(manifest, wanted)) {
    const installed = await findInstalled(candidate, folder, verification, 'auto');
    if (fills(installed, wanted)) return { manifest: candidate, installed };
  }
  return undefined;
}

/** The manifest with one model in use and one file of weights for it; for label bridges, one of each combination. */
function* manifestsFor(manifest: Manifest, { role, modelSha256 }: FilledSpace): Generator<Manifest> {
  for (const model of manifest.models) {
    if (role === 'text_semantic' && model.family === 'text_semantic') {
      for (const file of filesOf(model.text?.variants, model, modelSha256))
        yield inUse(manifest, { text_semantic: model.name }, [withFile(model, 'text', file)]);
    } else if (role === 'visual_picture' && model.family === 'visual') {
      for (const file of filesOf(model.picture?.variants, model, modelSha256))
        yield inUse(manifest, { visual: model.name }, [withoutLabels(withFile(model, 'picture', file))]);
    } else if (role === 'visual_words' && model.picture?.labels) {
      yield* bridges(manifest, model, model.picture.labels.text_model);
    }
  }
}

function* bridges(manifest: Manifest, model: ManifestModel, textModel: string): Generator<Manifest> {
  const text = manifest.models.find(({ name }) => name === textModel);
  for (const file of filesOf(model.picture?.variants, model))
    for (const words of text ? filesOf(text.text?.variants, text) : [])
      yield inUse(manifest, { visual: model.name }, [
        withFile(model, 'picture', file),
        withFile(text!, 'text', words),
      ]);
}

/** Names of files with weights, those with one SHA-256 where it is given. */
function filesOf(
  variants: readonly ManifestVariant[] | undefined,
  { files }: ManifestModel,
  sha256?: string,
): Set<string> {
  const names = (variants ?? []).map(({ file }) => file);
  return new Set(names.filter((name) => sha256 === undefined || files[name]?.sha256 === sha256));
}

function withFile(model: ManifestModel, part: 'text' | 'picture', file: string): ManifestModel {
  const of = model[part];
  if (!of) return model;
  const variants = of.variants.filter((variant) => variant.file === file);
  const anywhere = variants.some(({ providers }) => providers.includes('cpu'))
    ? variants
    : variants.map((variant) => ({ ...variant, providers: [...variant.providers, 'cpu' as const] }));
  return { ...model, [part]: { ...of, variants: anywhere } };
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

function fills({ towers }: Installed, { role, modelSha256 }: FilledSpace): boolean {
  if (role === 'visual_words') return bridgeSha256(towers) === modelSha256;
  const tower = role === 'visual_picture' ? towers.picture : towers.texts.find((text) => text.passageSpace);
  return tower?.candidates[0]?.sha256 === modelSha256;
}
