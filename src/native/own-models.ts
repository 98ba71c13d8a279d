import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';

/** Folder of the models that came with this installation: `models` beside the sources, or a package. */
export const OWN_MODELS = ownModels();

function ownModels(): string {
  const beside = resolve(import.meta.dirname, '../../models');
  if (existsSync(beside)) return beside;
  try {
    return dirname(createRequire(import.meta.url).resolve('farthing-models/package.json'));
  } catch {
    // A part that needs a model says that it is missing here.
    return beside;
  }
}
