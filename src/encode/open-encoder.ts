import { resolve } from 'node:path';
import { FarthingError } from '../domain/error.ts';
import { type Encoder, type EncoderOptions, WorkerEncoder } from './encoder.ts';
import { type ChosenWeights, readChosenWeights, saveChosenWeights } from './models/chosen-weights.ts';
import { findInstalled, type Installed } from './models/installed.ts';
import { type Manifest, readManifest } from './models/manifest.ts';
import { type FilledSpace, findFormer } from './models/previous-model.ts';
import type { Towers } from './models/tower.ts';
import { Verification } from './models/verification.ts';
import type { CutSettings } from './text/passage.ts';
import { settle } from './workers/available-towers.ts';
import { workerCounts } from './workers/worker-counts.ts';
import { chooseProviders, startWorkers } from './workers/workers.ts';

/**
 * Opens the models in use and starts the workers, warm.
 * @throws FarthingError `models_invalid` for a manifest that is wrong, or a provider that was asked for and cannot serve.
 */
export async function openEncoder(options: EncoderOptions): Promise<Encoder> {
  const { cacheFolder, provider = 'auto' } = options;
  const modelsFolder = resolve(options.modelsFolder);
  const manifest = await readManifest(modelsFolder);
  const verification = await Verification.open(modelsFolder, cacheFolder);
  const installed = await findInstalled(manifest, modelsFolder, verification, provider);
  await verification.save();
  const former = await readChosenWeights(cacheFolder);
  return startEncoder(manifest, installed, options, former, (towers) =>
    saveChosenWeights(cacheFolder, former, towers),
  );
}

/**
 * Opens the model that filled a space before another came into use: one that serves this space alone.
 * @returns undefined when its weights are not installed.
 */
export async function openFormerEncoder(
  options: EncoderOptions,
  space: FilledSpace,
): Promise<Encoder | undefined> {
  const modelsFolder = resolve(options.modelsFolder);
  const verification = await Verification.open(modelsFolder, options.cacheFolder);
  const former = await findFormer(await readManifest(modelsFolder), modelsFolder, verification, space);
  await verification.save();
  return former && startEncoder(former.manifest, former.installed, { ...options, provider: 'auto' });
}

async function startEncoder(
  manifest: Manifest,
  installed: Installed,
  options: EncoderOptions,
  former: ChosenWeights = {},
  remember: (towers: Towers) => Promise<void> = async () => {},
): Promise<Encoder> {
  const started = performance.now();
  const { cacheFolder, provider = 'auto', log } = options;
  const cutting = cuttingOf(manifest, installed.towers);
  const chosen = await chooseProviders(installed.towers, cutting, former);
  const usable = settle(chosen.towers, installed.missing, chosen.rejected);
  const counts = workerCounts({ query: options.queryWorkers, ingest: options.ingestWorkers }, usable.towers);
  const starting = startWorkers(usable.towers, cutting, counts, cacheFolder);
  options.onBegun?.();
  const workers = await starting;
  const settled = settle(
    usable.towers,
    usable.missing,
    workers.reports
      .filter(({ failure }) => failure)
      .map(({ model, failure }) => ({ model, provider: '', reason: failure! })),
  );
  if (provider !== 'auto' && settled.missing.length > 0) {
    await Promise.all([...workers.slots, ...workers.opening].map((slot) => slot.close()));
    const reasons = settled.missing
      .map(({ family, use, reason }) => `${family} (${use}): ${reason}`)
      .join('; ');
    throw new FarthingError(
      'models_invalid',
      `The provider ${provider} was asked for and does not serve: ${reasons}`,
    );
  }
  await remember(settled.towers);
  const encoder = new WorkerEncoder(manifest, usable.towers, settled, workers, options, chosen.rejected);
  for (const rejection of chosen.rejected)
    (options.alarm ?? log)({ event: 'provider_rejected', ...rejection });
  log({
    event: 'encoder_ready',
    ms: Math.round(performance.now() - started),
    labels_cached: workers.labelsCached,
    workers: counts,
    families: encoder.families,
    passed_over: [...installed.passedOver, ...chosen.rejected, ...chosen.slower],
  });
  return encoder;
}

function cuttingOf(manifest: Manifest, { texts }: Towers): CutSettings {
  const tower = texts.find(({ passageSpace }) => passageSpace);
  if (!tower) return { tokenizerPath: null, limit: manifest.passage_words, specialTokens: false, prefix: '' };
  const { limit, special_tokens, passage_prefix } = tower.settings;
  return { tokenizerPath: tower.tokenizerPath, limit, specialTokens: special_tokens, prefix: passage_prefix };
}
