import { existsSync } from 'node:fs';
import { mkdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { type Downloaded, type DownloadOptions, download } from './download.ts';
import { changeLock, type Lock } from './lock.ts';
import {
  encodingPartsOf,
  type ManifestModel,
  type ManifestVariant,
  PROVIDERS,
  type Provider,
} from './manifest.ts';
import { filesBesidesWeights } from './manifest-check.ts';
import { readManifest } from './read-manifest.ts';
import { Verification } from './verification.ts';

/** Folder for downloaded files until their model is complete. */
const STAGING = '.pulling';

export interface LibraryFile {
  readonly name: string;
  readonly path: string;
  /** Why it may not be used; absent: it is present and correct. */
  readonly refusal?: string;
  /** It is present, but not what the manifest says. */
  readonly wrong: boolean;
  /** Can be pulled. */
  readonly remote: boolean;
}

export interface LibraryModel {
  readonly name: string;
  readonly family: string;
  readonly licence: string;
  readonly revision: string;
  readonly note?: string;
  /** Serves its role here, or will after the next start. */
  readonly used: boolean;
  /** Serves indexes that begin in a language which the text model in use does not know. */
  readonly forOtherLanguages: boolean;
  /** Weights for some provider, and all that they need, are present and correct. */
  readonly installed: boolean;
  /** Providers for which the manifest has weights, but none of them is here. */
  readonly lacking: readonly Provider[];
  /** Each of its lists has curves or a calibration: otherwise confidence is low. */
  readonly measured: boolean;
  readonly files: readonly LibraryFile[];
}

export interface PullOptions extends Pick<DownloadOptions, 'attempts' | 'pause'> {
  /** For example `https://huggingface.co`, or a mirror with the same paths. */
  readonly hubUrl: string;
  readonly onProgress?: (path: string, done: number, total: number | undefined) => void;
}

/** The models folder, as the operator sees it. */
export class Library {
  readonly #folder: string;
  readonly #cacheFolder: string;

  /** @param cacheFolder for checksums of files that did not change */
  constructor(folder: string, cacheFolder: string) {
    this.#folder = folder;
    this.#cacheFolder = cacheFolder;
  }

  /**
   * Every model of the manifest, with its files checked: all of them `anew`, or those whose size or time has changed since
   * they were last hashed.
   */
  async models({ anew = false } = {}): Promise<LibraryModel[]> {
    const manifest = await readManifest(this.#folder);
    const verification = anew
      ? Verification.anew(this.#folder, this.#cacheFolder)
      : await Verification.open(this.#folder, this.#cacheFolder);
    const models: LibraryModel[] = [];
    for (const model of manifest.models) {
      const files: LibraryFile[] = [];
      for (const [name, file] of Object.entries(model.files)) {
        const refusal = await verification.refusal(file);
        const wrong = refusal !== undefined && existsSync(join(this.#folder, file.path));
        const remote = file.remote !== undefined;
        files.push({ name, path: file.path, remote, wrong, ...(refusal && { refusal }) });
      }
      const { name, family, licence, revision, note } = model;
      const used = Object.values(manifest.use).includes(name);
      const there = new Set(files.flatMap((file) => (file.refusal ? [] : [file.name])));
      const installed = isInstalled(model, there);
      const lacking = PROVIDERS.filter((provider) => lacksWeights(model, provider, there));
      models.push({
        name,
        family,
        licence,
        revision,
        ...(note && { note }),
        used,
        forOtherLanguages: !used && manifest.other_languages === name,
        installed,
        lacking,
        measured: Object.values(model.lists).every(({ curve, calibration }) => curve || calibration),
        files,
      });
    }
    // The server recognises a first start by the absence of this folder: do not create it here.
    if (existsSync(this.#cacheFolder)) await verification.save();
    return models;
  }

  /**
   * Downloads all missing or wrong files of a model. They are moved to their final paths once all are downloaded.
   * Hashes that the manifest does not know are locked last; only then may the model be used.
   * @returns paths of the new files
   */
  async pull(name: string, options: PullOptions): Promise<string[]> {
    const model = await this.#model(name);
    const before = (await this.models()).find((model) => model.name === name)!;
    const wanted = before.files.filter(({ refusal, remote }) => refusal && remote);
    if (wanted.length === 0) {
      if (before.installed) return [];
      throw new FarthingError(
        'models_invalid',
        `${name} cannot be pulled: its files come from ${model.source}.`,
      );
    }
    if (!model.hub)
      throw new FarthingError('models_invalid', `${name} has no place on a hub in the manifest.`);
    await this.#checkSpace(wanted.reduce((sum, file) => sum + (model.files[file.name]!.bytes ?? 0), 0));
    const learned: Lock['files'] = {};
    for (const { name: file, path } of wanted) {
      const found = await this.#download(model, file, options);
      if (model.files[file]!.sha256 === undefined) learned[path] = found;
    }
    for (const { path } of wanted) {
      await mkdir(dirname(join(this.#folder, path)), { recursive: true });
      await rename(`${this.#staged(path)}.part`, join(this.#folder, path));
      await rm(`${this.#staged(path)}.part.etag`, { force: true });
    }
    if (Object.keys(learned).length > 0)
      await changeLock(this.#folder, (lock) => ({ ...lock, files: { ...lock.files, ...learned } }));
    return wanted.map(({ path }) => path);
  }

  /** Downloads one file of a model into the staging folder. */
  #download(
    { hub, files }: ManifestModel,
    file: string,
    { hubUrl, attempts, pause, onProgress }: PullOptions,
  ): Promise<Downloaded> {
    const { path, sha256, bytes, remote } = files[file]!;
    const wanted = {
      url: `${hubUrl}/${hub!.repository}/resolve/${hub!.revision}/${remote}`,
      ...(sha256 !== undefined && { sha256 }),
      ...(bytes !== undefined && { bytes }),
    };
    return download(wanted, this.#staged(path), {
      attempts,
      pause,
      onProgress: (done, total) => onProgress?.(path, done, total),
    });
  }

  /** Makes a model serve its role from the next start on. @throws FarthingError when it is not installed */
  async use(name: string): Promise<LibraryModel> {
    await this.#model(name);
    const model = (await this.models()).find((listed) => listed.name === name)!;
    if (!model.installed) {
      const why = model.files.flatMap(({ refusal }) => refusal ?? []).join('; ');
      throw new FarthingError('models_invalid', `${name} is not installed: ${why}.`);
    }
    await changeLock(this.#folder, (lock) => ({ ...lock, use: { ...lock.use, [model.family]: name } }));
    return { ...model, used: true };
  }

  async #model(name: string): Promise<ManifestModel> {
    const { models } = await readManifest(this.#folder);
    const model = models.find((listed) => listed.name === name);
    if (model) return model;
    const names = models.map((listed) => listed.name).join(', ');
    throw new FarthingError(
      'models_invalid',
      `There is no model "${name}" in the manifest. There are: ${names}.`,
    );
  }

  #staged(path: string): string {
    return join(this.#folder, STAGING, path);
  }

  async #checkSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize >= bytes) return;
    throw new FarthingError('storage_full', `${bytes} bytes are needed, and ${bavail * bsize} are free.`);
  }
}

/** Whether each part has weights for some provider, and all other files exist. */
function isInstalled(model: ManifestModel, there: ReadonlySet<string>): boolean {
  const weights = encodingPartsOf(model).every(({ variants }) =>
    variants.some(({ file }) => there.has(file)),
  );
  return weights && filesBesidesWeights(model).every((file) => there.has(file));
}

function lacksWeights(model: ManifestModel, provider: Provider, there: ReadonlySet<string>): boolean {
  return encodingPartsOf(model).some((part) => {
    const variants: readonly ManifestVariant[] = part.variants;
    const usable = variants.filter(({ providers }) => providers.includes(provider));
    return usable.length > 0 && !usable.some(({ file }) => there.has(file));
  });
}
