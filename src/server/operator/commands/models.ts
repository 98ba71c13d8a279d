import { join, resolve } from 'node:path';
import { Library, type LibraryModel } from '@farthing/engine/encode/models/library';
import { ENCODING_ROLES } from '@farthing/engine/encode/models/manifest';
import { FarthingError } from '@farthing/protocol/error';
import type { Settings } from '../../settings/settings.ts';
import { type CommandIo, EXIT, settingsOf } from '../io.ts';

const ATTEMPTS_MAX = 8;
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 30_000;
const BAR_CELLS = 30;

/** Writes a line for each model of the manifest: name, family, what of it is installed, licence. */
export async function listModels(io: CommandIo): Promise<number> {
  for (const model of await libraryOf(settingsOf(io)).models()) {
    const cells = [model.name.padEnd(24), model.family.padEnd(14), stateOf(model).padEnd(24), model.licence];
    io.write(`${cells.join(' ')}\n`);
    if (model.note) io.write(`  ${model.note}\n`);
  }
  return EXIT.done;
}

function stateOf({ files, used, forOtherLanguages, installed }: LibraryModel): string {
  if (used && !installed) return 'in use, and incomplete';
  const use = used ? 'in use' : forOtherLanguages ? 'for other languages' : 'installed';
  const state = installed ? use : 'not here';
  const present = files.filter(({ refusal }) => !refusal).length;
  return present < files.length && present > 0 ? `${state}, ${present} of ${files.length} files` : state;
}

/** Hashes every file of every model. @returns 1 when a model in use is wrong or incomplete */
export async function verifyModels(io: CommandIo): Promise<number> {
  const models = await libraryOf(settingsOf(io)).models({ anew: true });
  for (const { name, files } of models)
    for (const { path, refusal } of files) io.write(`${name.padEnd(24)} ${refusal ?? `${path} is right`}\n`);
  const broken = models.some(
    ({ used, installed, files }) => used && (!installed || files.some(({ wrong }) => wrong)),
  );
  return broken ? EXIT.failed : EXIT.done;
}

/** Makes a model serve its family from the next start on. @throws FarthingError when it is not installed */
export async function useModel(name: string, io: CommandIo): Promise<number> {
  const { family, note } = await libraryOf(settingsOf(io)).use(name);
  // Indexes with another model stay separate; speech is stored as text.
  const scope = Object.hasOwn(ENCODING_ROLES, family)
    ? ', for new indexes: those that there are keep their model until they end'
    : ', for what is uploaded then';
  io.write(`${name} serves ${family} from the next start on${scope}.\n`);
  if (note) io.write(`${note}\n`);
  return EXIT.done;
}

/** Downloads what is missing of a model, resuming broken transfers. @throws FarthingError */
export async function pullModel(
  name: string,
  { offline, use }: { readonly offline: boolean; readonly use: boolean },
  io: CommandIo,
): Promise<number> {
  const settings = settingsOf(io);
  const library = libraryOf(settings);
  if (offline) return mustBeInstalled(name, library);
  const pulled = await library.pull(name, {
    hubUrl: settings.MODEL_HUB_URL,
    attempts: ATTEMPTS_MAX,
    pause: (attempt) => io.pause(Math.min(PAUSE_MAX_MS, PAUSE_FIRST_MS * 2 ** (attempt - 1))),
    onProgress: (path, done, total) => io.progress?.(progressBar(path, done, total)),
  });
  io.progress?.('');
  io.write(pulled.length === 0 ? `${name} is here already.\n` : `${name}: ${pulled.join(', ')}\n`);
  return use ? useModel(name, io) : EXIT.done;
}

async function mustBeInstalled(name: string, library: Library): Promise<number> {
  const model = (await library.models()).find((known) => known.name === name);
  if (model?.installed) return EXIT.done;
  const missing = model?.files.flatMap(({ refusal, path }) => (refusal ? path : [])).join(', ');
  throw new FarthingError(
    'models_invalid',
    `${name} is not installed, and nothing is pulled with --offline. Copy its files into the models folder: ${missing ?? 'see models list'}.`,
  );
}

export function libraryOf({
  MODELS_DIR,
  CACHE_DIR,
  DATA_DIR,
}: Pick<Settings, 'MODELS_DIR' | 'CACHE_DIR' | 'DATA_DIR'>): Library {
  return new Library(resolve(MODELS_DIR), resolve(CACHE_DIR || join(DATA_DIR, 'cache')));
}

/** One line of a progress bar. @param total bytes; undefined when the server does not say */
export function progressBar(path: string, done: number, total: number | undefined): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  if (total === undefined || total === 0) return `${path}  ${megabytes(done)} MB`;
  const filled = Math.min(BAR_CELLS, Math.floor((BAR_CELLS * done) / total));
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled);
  return `${path}  ${bar} ${Math.floor((100 * done) / total)} %  ${megabytes(done)} of ${megabytes(total)} MB`;
}
