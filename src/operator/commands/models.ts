import { join, resolve } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import { Library, type LibraryModel } from '../../encode/models/library.ts';
import type { Settings } from '../../settings/settings.ts';
import { MODELS_HELP } from './models-help.ts';

const ATTEMPTS = 8;
const PAUSE_MS_MAX = 30_000;

/** Where the command writes, so that tests need no terminal. */
export interface Output {
  readonly write: (line: string) => void;
  /** A line that the next one replaces on a terminal; absent: progress is not shown. */
  readonly progress?: (line: string) => void;
  /** Waited for before a broken transfer is taken up; absent: some seconds, more each time. */
  readonly pause?: (attempt: number) => Promise<void>;
}

/** `farthing models …`. @returns the exit code */
export async function modelsCommand(
  words: readonly string[],
  settings: Pick<Settings, 'MODELS_DIR' | 'CACHE_DIR' | 'DATA_DIR' | 'MODEL_HUB_URL'>,
  output: Output,
): Promise<number> {
  const library = new Library(
    resolve(settings.MODELS_DIR),
    resolve(settings.CACHE_DIR || join(settings.DATA_DIR, 'cache')),
  );
  const offline = words.includes('--offline');
  const [verb, name, ...more] = words.filter((word) => word !== '--offline');
  if (verb === 'list' && name === undefined) return list(library, output);
  if (verb === 'verify' && name === undefined) return verify(library, output);
  if (verb === 'use' && name !== undefined && more.length === 0) return use(library, name, output);
  if (verb === 'pull' && name !== undefined && more.length === 0)
    return pull(library, name, { hubUrl: settings.MODEL_HUB_URL, offline }, output);
  output.write(MODELS_HELP);
  return 2;
}

async function list(library: Library, { write }: Output): Promise<number> {
  for (const model of await library.models()) {
    const state = model.used ? 'in use' : model.installed ? 'installed' : 'not here';
    write(
      `${model.name.padEnd(24)} ${model.family.padEnd(14)} ${stateOf(state, model).padEnd(24)} ${model.licence}`,
    );
    if (model.note) write(`  ${model.note}`);
  }
  return 0;
}

function stateOf(state: string, { files, used, installed }: LibraryModel): string {
  if (used && !installed) return 'in use, and incomplete';
  const here = files.filter(({ refusal }) => !refusal).length;
  return here < files.length && here > 0 ? `${state}, ${here} of ${files.length} files` : state;
}

async function verify(library: Library, { write }: Output): Promise<number> {
  const models = await library.models({ anew: true });
  for (const { name, files } of models)
    for (const { path, refusal } of files) write(`${name.padEnd(24)} ${refusal ?? `${path} is right`}`);
  const broken = models.some(
    ({ used, installed, files }) => used && (!installed || files.some(({ wrong }) => wrong)),
  );
  return broken ? 1 : 0;
}

async function use(library: Library, name: string, { write }: Output): Promise<number> {
  const { family, note } = await library.use(name);
  write(
    `${name} serves ${family} from the next start on. What is stored then is encoded again in the background.`,
  );
  if (note) write(note);
  return 0;
}

async function pull(
  library: Library,
  name: string,
  { hubUrl, offline }: { hubUrl: string; offline: boolean },
  output: Output,
): Promise<number> {
  if (offline) {
    const model = (await library.models()).find((one) => one.name === name);
    if (model?.installed) return 0;
    throw new FarthingError(
      'models_invalid',
      `${name} is not installed, and nothing is pulled with --offline. Copy its files into the models folder: ${
        model
          ? model.files.flatMap(({ refusal, path }) => (refusal ? path : [])).join(', ')
          : 'see models list'
      }.`,
    );
  }
  const brought = await library.pull(name, {
    hubUrl,
    attempts: ATTEMPTS,
    pause: output.pause ?? backOff,
    onProgress: (path, done, total) => output.progress?.(bar(path, done, total)),
  });
  output.progress?.('');
  output.write(brought.length === 0 ? `${name} is here already.` : `${name}: ${brought.join(', ')}`);
  return 0;
}

/** One line of a progress bar. */
export function bar(path: string, done: number, total: number | undefined): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  if (total === undefined || total === 0) return `${path}  ${megabytes(done)} MB`;
  const width = 30;
  const filled = Math.min(width, Math.floor((width * done) / total));
  const share = Math.floor((100 * done) / total);
  return `${path}  ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${share} %  ${megabytes(done)} of ${megabytes(total)} MB`;
}

function backOff(attempt: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, Math.min(PAUSE_MS_MAX, 1000 * 2 ** (attempt - 1))));
}

/** On a terminal a line of progress replaces the one before; elsewhere it is left out. */
export function terminalOutput(): Output {
  const { stderr } = process;
  let shown = '';
  return {
    write: (line) => console.log(line),
    ...(stderr.isTTY && {
      progress: (line: string) => {
        if (line === shown) return;
        shown = line;
        stderr.write(`\r\x1b[2K${line}`);
      },
    }),
  };
}
