import { resolve } from 'node:path';
import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { type Encoder, type EncoderOptions, type MoreOfEncoder, WorkerEncoder } from './encoder.ts';
import { findInstalled, type Installed } from './models/installed.ts';
import type { Manifest } from './models/manifest.ts';
import { withNative } from './models/native-weights.ts';
import { type FilledBy, findPreviousModel } from './models/previous-model.ts';
import { readManifest } from './models/read-manifest.ts';
import { type ServedSpace, servedSpaces } from './models/served-spaces.ts';
import { passageTowerOf, type TextTower, type Towers } from './models/tower.ts';
import { Verification } from './models/verification.ts';
import { sharedModels } from './shared-models.ts';
import type { CutSettings } from './text/passage.ts';
import { translationIn } from './text/translation.ts';
import { type AvailableTowers, availableTowers } from './workers/available-towers.ts';
import { workerCounts } from './workers/worker-counts.ts';
import { chooseProviders, startWorkers, type Workers } from './workers/workers.ts';

/**
 * Opens the models in use and starts the workers, warm.
 * @throws FarthingError `models_invalid` for a wrong manifest, or a configured provider that cannot serve.
 */
export async function openEncoder(options: EncoderOptions): Promise<Encoder> {
  const { cacheFolder, provider = 'auto' } = options;
  const modelsFolder = resolve(options.modelsFolder);
  const manifest = await readManifest(modelsFolder);
  const verification = await Verification.open(modelsFolder, cacheFolder);
  const installed = await findInstalled(manifest, modelsFolder, verification, provider);
  const otherLanguages = await otherLanguagesIn(manifest, modelsFolder, verification, options.log);
  const { missing, passedOver } = installed;
  const towers = withNative(installed.towers, provider);
  const translation = await translationIn(manifest, towers, modelsFolder, verification, options.log);
  await verification.save();
  const tokenizers = [passageTowerOf(towers), otherLanguages?.tower].flatMap(
    (tower) => tower?.tokenizerPath ?? [],
  );
  const more = {
    ...(otherLanguages && { otherLanguages: otherLanguages.space }),
    ...(translation && { translation }),
    ...(tokenizers.length > 0 && { vocabulary: new native.Vocabulary(tokenizers) }),
  };
  return startEncoder(manifest, { towers, missing, passedOver }, options, more, tokenizers);
}

/**
 * Opens the model that fills a space of an index, whichever is in use now. It serves this space alone.
 * @returns undefined when its weights are not installed.
 */
export async function openPreviousEncoder(
  options: EncoderOptions,
  space: FilledBy,
): Promise<Encoder | undefined> {
  const modelsFolder = resolve(options.modelsFolder);
  const verification = await Verification.open(modelsFolder, options.cacheFolder);
  const model = await findPreviousModel(await readManifest(modelsFolder), modelsFolder, verification, space);
  await verification.save();
  return model && startEncoder(model.manifest, model.installed, { ...options, provider: 'auto' });
}

/** The space of a text model for indexes in other languages than the one in use knows; undefined without one here. */
async function otherLanguagesIn(
  manifest: Manifest,
  folder: string,
  verification: Verification,
  log: EncoderOptions['log'],
): Promise<{ readonly space: ServedSpace; readonly tower: TextTower | undefined } | undefined> {
  const { other_languages: model } = manifest;
  if (!model || model === manifest.use.text_semantic) return undefined;
  const alone = { ...manifest, use: { text_semantic: model } };
  const { towers, missing } = await findInstalled(alone, folder, verification, 'auto');
  const space = servedSpaces(alone, withNative(towers, 'auto')).find(({ name }) => name === 'text_semantic');
  if (!space)
    log({
      event: 'other_languages_missing',
      model,
      reason: missing.find((lack) => lack.space === 'text_semantic')?.reason,
    });
  return space && { space, tower: passageTowerOf(towers) };
}

async function startEncoder(
  manifest: Manifest,
  installed: Installed,
  options: EncoderOptions,
  more?: MoreOfEncoder,
  tokenizers: readonly string[] = [],
): Promise<Encoder> {
  const started = performance.now();
  const { cacheFolder, log, alarm = log } = options;
  const cutting = cuttingOf(manifest, installed.towers);
  const { towers, natives, rejected } = await chooseProviders(installed.towers);
  const usable = availableTowers(towers, installed.missing, rejected);
  const counts = workerCounts({ query: options.queryWorkers, ingest: options.ingestWorkers }, usable.towers);
  const starting = startWorkers({ towers: usable.towers, natives }, cutting, counts, cacheFolder);
  options.onBegun?.();
  const workers = await starting;
  const available = availableTowers(usable.towers, usable.missing, openingFailures(workers));
  await refuseMissing(available, workers, options);
  // A model of another shape than the native encoder's is no fault.
  const faults = rejected.filter(({ provider }) => provider !== 'native');
  const shared = sharedModels(
    {
      ...available,
      manifest,
      tokenizers,
      ...(more?.translation && { translatesInto: more.translation.into }),
    },
    (model) => natives.has(model),
  );
  const encoder = new WorkerEncoder(manifest, usable.towers, available, workers, options, faults, {
    ...more,
    ...(shared && { shared }),
  });
  for (const fault of faults) alarm({ event: 'provider_rejected', ...fault });
  log({
    event: 'encoder_ready',
    ms: Math.round(performance.now() - started),
    labels_cached: workers.labelsCached,
    workers: counts,
    spaces: encoder.spaces.map(({ name, weights, warmupMs }) => ({ name, weights, warmup_ms: warmupMs })),
    missing: encoder.missing,
    passed_over: [...installed.passedOver, ...rejected],
  });
  return encoder;
}

function openingFailures({ reports }: Workers) {
  return reports.flatMap(({ model, failure }) =>
    failure === undefined ? [] : [{ model, provider: '', reason: failure }],
  );
}

/** A configured provider must serve everything. @throws FarthingError `models_invalid` after it has ended the workers */
async function refuseMissing(
  { missing }: AvailableTowers,
  { threads }: Workers,
  { provider = 'auto' }: EncoderOptions,
): Promise<void> {
  if (provider === 'auto' || missing.length === 0) return;
  await Promise.all(threads.map((thread) => thread.rest()));
  const reasons = missing.map(({ space, asksWith, reason }) => `${space} (${asksWith}): ${reason}`);
  throw new FarthingError(
    'models_invalid',
    `The provider ${provider} was asked for and does not serve: ${reasons.join('; ')}`,
  );
}

function cuttingOf(manifest: Manifest, towers: Towers): CutSettings {
  const tower = passageTowerOf(towers);
  if (!tower) return { tokenizerPath: null, limit: manifest.passage_words, specialTokens: false, prefix: '' };
  const { limit, special_tokens, passage_prefix } = tower.settings;
  return { tokenizerPath: tower.tokenizerPath, limit, specialTokens: special_tokens, prefix: passage_prefix };
}
