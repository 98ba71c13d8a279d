import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { Value } from '@sinclair/typebox/value';
import { type Lock, readLock } from './lock.ts';
import { type Manifest, ManifestSchema } from './manifest.ts';
import { manifestProblem } from './manifest-check.ts';

const MANIFEST_BYTES_MAX = 4 * 2 ** 20;

/**
 * Reads and checks `manifest.json` of a models folder, with what `lock.json` overrides.
 * @throws FarthingError `models_invalid` with the position of the error.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, 'manifest.json');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new FarthingError('models_invalid', `${path} cannot be read.`, { cause: error });
  });
  if (text.length > MANIFEST_BYTES_MAX)
    throw new FarthingError('models_invalid', `${path} is over ${MANIFEST_BYTES_MAX} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new FarthingError('models_invalid', `${path} is no JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return withLock(checkManifest(value, path), await readLock(folder), path);
}

/** Checks a manifest's shape, and that every name in it refers to something. @throws FarthingError `models_invalid` */
export function checkManifest(value: unknown, path = 'manifest.json'): Manifest {
  const wrong = Value.Errors(ManifestSchema, value).First();
  if (wrong) throw new FarthingError('models_invalid', `${path}${wrong.path}: ${wrong.message}`);
  const manifest = value as Manifest;
  const problem = manifestProblem(manifest);
  if (problem) throw new FarthingError('models_invalid', `${path}: ${problem}`);
  return manifest;
}

/** The manifest with what this installation chose and learned. @throws FarthingError for a choice of an unknown model */
function withLock(manifest: Manifest, lock: Lock, path: string): Manifest {
  const models = manifest.models.map((model) => ({
    ...model,
    files: Object.fromEntries(
      Object.entries(model.files).map(([name, file]) => [name, { ...lock.files[file.path], ...file }]),
    ),
  }));
  const locked = { ...manifest, use: { ...manifest.use, ...lock.use }, models };
  const problem = manifestProblem(locked);
  if (problem) throw new FarthingError('models_invalid', `${path} with its lock file: ${problem}`);
  return locked;
}
