import { join } from 'node:path';
import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { embedLabels, readLabels } from '../models/labels.ts';
import {
  type Failure,
  inputBytes,
  type LabelBridge,
  onProcessor,
  pictureTowerOf,
  type Tower,
  type Towers,
  textTowerOf,
} from '../models/tower.ts';
import { NativeTextRunner } from '../text/native-text-runner.ts';
import type { CutSettings } from '../text/passage.ts';
import { EncoderThread } from './encoder-thread.ts';
import { TASK_ROWS_MAX, type TowerReport, type WorkerSettings } from './protocol.ts';
import { indexIn, inputsOfTask } from './work-kinds.ts';
import type { WorkerCounts } from './worker-counts.ts';

/** Worker threads with their sessions open and warm. */
export interface Workers {
  readonly threads: readonly EncoderThread[];
  /** The native encoder's models, by the index of their tower. */
  readonly natives: readonly (NativeTextRunner | undefined)[];
  /** One for each tower: the first worker's report, or the failure of any. */
  readonly reports: readonly TowerReport[];
  readonly labelsCached: boolean;
}

/** The towers with one candidate each, that of the provider that serves, or none. */
export interface Chosen {
  readonly towers: Towers;
  /** The native encoder's models, by the names of their models. */
  readonly natives: ReadonlyMap<string, NativeTextRunner>;
  readonly rejected: readonly Failure[];
}

/** Takes each tower's first candidate that serves. GPUs are tried in a worker; a model that the native encoder runs is opened. */
export async function chooseProviders(towers: Towers): Promise<Chosen> {
  const hasGpu = towers.some(({ candidates }) => !candidates.every(onProcessor));
  const tried = hasGpu ? await tryGpus(towers) : { towers, rejected: [] };
  const natives = new Map<string, NativeTextRunner>();
  const rejected: Failure[] = [...tried.rejected];
  const chosen: Tower[] = [];
  for (const tower of tried.towers) {
    const [first, second] = tower.candidates;
    let candidate = first;
    if (tower.kind === 'text' && first?.provider === 'native') {
      const { model } = tower;
      const opened = await NativeTextRunner.open(tower, first).catch((error: Error) => error);
      if (opened instanceof Error) {
        rejected.push({ model, provider: 'native', reason: opened.message });
        candidate = second;
      } else natives.set(model, opened);
    }
    chosen.push({ ...tower, candidates: candidate ? [candidate] : [] });
  }
  return { towers: chosen, natives, rejected };
}

async function tryGpus(towers: Towers): Promise<Omit<Chosen, 'natives'>> {
  const memory = sharedMemory(towers);
  const thread = new EncoderThread({ ...memory, role: 'query', towers, choosing: true });
  try {
    const choices = await thread.choose();
    return {
      towers: towers.map((tower, index) => ({ ...tower, candidates: choices[index]!.candidates })),
      rejected: choices.flatMap(({ rejected }, index) =>
        rejected.map((failure) => ({ model: towers[index]!.model, ...failure })),
      ),
    };
  } finally {
    await thread.rest();
  }
}

/** Workers that not every request needs take 40 MiB each. A start takes a fifth of a second of a processor. */
const IDLE_MS_MAX = 10 * 60_000;

/**
 * Starts the workers; each opens and warms up its own sessions. On a device they open one after the other, before any runs: CUDA refuses
 * an opening while another thread's stream is captured. Where the native encoder runs all texts, one worker shows that the models open
 * and ends: all start with the pictures that need them.
 */
export async function startWorkers(
  { towers: chosen, natives: opened }: Pick<Chosen, 'towers' | 'natives'>,
  cutting: CutSettings,
  counts: WorkerCounts,
  cacheFolder: string,
): Promise<Workers> {
  const towers = keepingGraphs(chosen, cacheFolder);
  const { labels } = sharedMemory(towers);
  const natives = towers.map(({ kind, model }) => (kind === 'text' ? opened.get(model) : undefined));
  const cutter = cutterOf(cutting);
  const isKept = towers.some((tower, index) => !natives[index] && isKeptFor(tower));
  const start = (role: EncoderThread['role'], count: number): EncoderThread[] =>
    Array.from({ length: count }, () => {
      // All workers share the table of labels; each has its own memory for tasks.
      const { input, output } = sharedMemory(towers);
      const options = { natives, cutter, ...(!isKept && { idleMsMax: IDLE_MS_MAX }) };
      return new EncoderThread({ role, towers, labels, input, output }, options);
    });
  const threads = [...start('query', counts.query), ...start('ingest', counts.ingest)];
  const onDevice = towers.some(({ candidates: [first] }) => first !== undefined && !onProcessor(first));
  try {
    const bridge = pictureTowerOf(towers)?.bridge;
    const table = new Float32Array(labels);
    // The table is read while the workers open.
    const [all, labelsKept] = await Promise.all([
      reportsOf(isKept ? threads : threads.slice(0, 1), onDevice),
      bridge ? readLabels(towers, bridge, table, cacheFolder) : true,
    ]);
    const reports = (all[0] ?? []).map(
      (report, index) => all.map((ofThread) => ofThread[index]!).find(({ failure }) => failure) ?? report,
    );
    const text = bridge && textTowerOf(towers, bridge.textModel);
    const embeds = bridge && text && !labelsKept && !reports[indexIn(towers, text)]?.failure;
    if (embeds)
      await embedLabels(towers, bridge, table, cacheFolder, (texts) =>
        encodeLabels(threads, indexIn(towers, text), bridge, texts),
      );
    if (!isKept) await threads[0]?.rest();
    return { threads, natives, reports, labelsCached: !embeds };
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.rest()));
    throw new FarthingError('models_invalid', 'The encoders could not be started.', { cause: error });
  }
}

/** @param inTurn whether a thread opens its models once the one before has */
async function reportsOf(threads: readonly EncoderThread[], inTurn: boolean): Promise<TowerReport[][]> {
  if (!inTurn) return Promise.all(threads.map((thread) => thread.report()));
  const reports: TowerReport[][] = [];
  for (const thread of threads) reports.push(await thread.report());
  return reports;
}

/** Whether requests need a worker for a tower so often, or it opens so slowly, that its workers stay. */
function isKeptFor({ kind, candidates: [candidate] }: Tower): boolean {
  return candidate !== undefined && (kind === 'text' || !onProcessor(candidate));
}

function cutterOf({ tokenizerPath, limit, specialTokens, prefix }: CutSettings) {
  return new native.PassageCutter(tokenizerPath, { limit, specialTokens, dropped: [] }, prefix);
}

/** Keeps graphs optimised for the processor in the cache folder: opening them takes a third of the time. */
function keepingGraphs(towers: Towers, cacheFolder: string): Towers {
  const graphsFolder = join(cacheFolder, 'graphs');
  return towers.map((tower) => ({
    ...tower,
    candidates: tower.candidates.map((candidate) =>
      candidate.provider === 'cpu' ? { ...candidate, graphsFolder } : candidate,
    ),
  }));
}

/** All threads share the labels; each takes the next ones as it becomes idle. */
async function encodeLabels(
  threads: readonly EncoderThread[],
  tower: number,
  { dimensions }: LabelBridge,
  texts: readonly string[],
): Promise<Float32Array[]> {
  const rows = new Array<Float32Array>(texts.length);
  let next = 0;
  const work = async (thread: EncoderThread) => {
    while (next < texts.length) {
      const start = next;
      next += TASK_ROWS_MAX;
      const part = texts.slice(start, start + TASK_ROWS_MAX);
      await thread.encode({ kind: 'texts', towers: [tower], use: 'ingest', texts: part, urgent: true });
      part.forEach((_, row) => {
        rows[start + row] = thread.output.slice(row * dimensions, (row + 1) * dimensions);
      });
    }
  };
  await Promise.all(threads.map(work));
  return rows;
}

/** Memory shared with one worker, large enough for its largest task. */
export function sharedMemory(towers: Towers): Pick<WorkerSettings, 'input' | 'output' | 'labels'> {
  const bridge = pictureTowerOf(towers)?.bridge;
  const inputs = towers.map((tower) => inputBytes(tower) * inputsOfTask(tower));
  const rows = towers.map(({ kind }) => rowLength(towers.filter((tower) => tower.kind === kind)));
  const floats = (count: number) => new SharedArrayBuffer(count * Float32Array.BYTES_PER_ELEMENT);
  return {
    input: new SharedArrayBuffer(Math.max(0, ...inputs)),
    output: floats(TASK_ROWS_MAX * Math.max(1, ...rows)),
    labels: floats(bridge ? bridge.labels.length * bridge.dimensions : 0),
  };
}

/** Floats of a row with the vectors of all towers of one kind, and of their bridges. */
function rowLength(towers: readonly Tower[]): number {
  const bridged = (tower: Tower) => (tower.kind === 'picture' ? (tower.bridge?.dimensions ?? 0) : 0);
  return towers.reduce((sum, tower) => sum + tower.settings.dimensions + bridged(tower), 0);
}
