import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import type { ManifestBuild, ManifestModel } from '../models/manifest.ts';
import { bringPackages } from './packages.ts';
import { buildWhisper } from './whisper.ts';

/** What has the packages' files once it resolves; a test puts its own in its place. */
export type Bring = typeof bringPackages;

/**
 * Makes all files of a model that is built of packages, at their paths below a folder, and checks them against the manifest.
 * @param folder for what is made; what was in it goes
 * @throws FarthingError `models_invalid`
 */
export async function buildModel(
  model: ManifestModel & { build: ManifestBuild },
  folder: string,
  bring: Bring = bringPackages,
): Promise<void> {
  const { name, files, speech, build } = model;
  if (!speech) throw new FarthingError('models_invalid', `${name} has no speech part to build.`);
  const packages = join(folder, 'packages');
  await rm(folder, { recursive: true, force: true });
  await mkdir(packages, { recursive: true });
  const brought = await bring(build.packages, packages);
  const parts = await Promise.all(build.weights.map((path) => readFile(join(brought, path))));
  const at = async (part: 'encoder' | 'decoder' | 'tokenizer'): Promise<string> => {
    const path = join(folder, files[speech[part]]!.path);
    await mkdir(dirname(path), { recursive: true });
    return path;
  };
  const { encoder, decoder } = buildWhisper(Buffer.concat(parts));
  await writeFile(await at('encoder'), encoder);
  await writeFile(await at('decoder'), decoder);
  await copyFile(join(brought, build.tokenizer), await at('tokenizer'));
  await rm(packages, { recursive: true });
  for (const { path, sha256 } of Object.values(files)) {
    const made = createHash('sha256')
      .update(await readFile(join(folder, path)))
      .digest('hex');
    if (made !== sha256)
      throw new FarthingError(
        'models_invalid',
        `${path} was made with the SHA-256 ${made}, the manifest says ${sha256}.`,
      );
  }
}
