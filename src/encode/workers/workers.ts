import { join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import { type ChosenWeights, previousWeights } from '../models/chosen-weights.ts';
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
  /** More ingest workers, which are still opening their sessions. */
  readonly opening: readonly EncoderThread[];
  /** One for each tower: the first worker's report, or the failure of any. */
  readonly reports: readonly TowerReport[];
  readonly labelsCached: boolean;
}

/** The towers with one candidate each, that of the provider that serves, or none. */
export interface Chosen {
  readonly towers: Towers;
  readonly rejected: readonly Failure[];
  /** Candidates with the right numbers that were not chosen. */
  readonly slower: readonly Failure[];
}

/** Lets a worker try the candidates. Where one on the processor is the only one, there is nothing to try. */
export async function chooseProviders(
  towers: Towers,
  cutting: CutSettings,
  previous: ChosenWeights,
): Promise<Chosen> {
  if (towers.every(({ candidates }) => candidates.length === 1 && onProcessor(candidates[0]!)))
    return { towers, rejected: [], slower: [] };
  const thread = new EncoderThread({
    ...sharedMemory(towers),
    role: 'query',
    towers,
    cutting,
    choosing: previousWeights(towers, previous),
  });
  try {
    const choices = await thread.choose();
    const passedOver = (why: 'rejected' | 'slower') =>
      choices.flatMap((choice, index) =>
        choice[why].map((failure) => ({ model: towers[index]!.model, ...failure })),
      );
    return {
      towers: towers.map((tower, index) => {
        const candidate = choices[index]?.candidate;
        return { ...tower, candidates: candidate ? [candidate] : [] };
      }),
      rejected: passedOver('rejected'),
      slower: passedOver('slower'),
    };
  } finally {
    await thread.close();
  }
}

/**
 * Starts the workers; each opens and warms up its own sessions. Resolves when all query workers and one ingest worker are
 * ready: the first requests need no more.
 */
export async function startWorkers(
  chosen: Towers,
  cutting: CutSettings,
  counts: WorkerCounts,
  cacheFolder: string,
): Promise<Workers> {
  const towers = keepingGraphs(chosen, cacheFolder);
  const { labels } = sharedMemory(towers);
  const natives = await openNatives(towers);
  const start = (role: EncoderThread['role'], count: number): EncoderThread[] =>
    Array.from({ length: count }, () => {
      // All workers share the table of labels; each has its own memory for tasks.
      const { input, output } = sharedMemory(towers);
      return new EncoderThread({ role, towers, cutting, labels, input, output }, natives);
    });
  const threads = [...start('query', counts.query), ...start('ingest', Math.min(1, counts.ingest))];
  try {
    const bridge = pictureTowerOf(towers)?.bridge;
    const table = new Float32Array(labels);
    // The table is read while the workers open.
    const [all, labelsKept] = await Promise.all([
      Promise.all(threads.map((thread) => thread.report())),
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
    return { threads, opening: start('ingest', counts.ingest - 1), reports, labelsCached: !embeds };
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.close()));
    throw new FarthingError('models_invalid', 'The encoders could not be started.', { cause: error });
  }
}

/** The native encoder's models, by the index of their tower. One that fails is reported by the workers, which open it, too. */
function openNatives(towers: Towers): Promise<(NativeTextRunner | undefined)[]> {
  const opening = towers.map(async (tower) => {
    const candidate = tower.candidates[0];
    if (tower.kind !== 'text' || candidate?.provider !== 'native') return undefined;
    return NativeTextRunner.open(tower, candidate).catch(() => undefined);
  });
  return Promise.all(opening);
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
      await thread.encode({ kind: 'texts', towers: [tower], use: 'ingest', texts: part });
      part.forEach((_, row) => {
        rows[start + row] = thread.output.slice(row * dimensions, (row + 1) * dimensions);
      });
    }
  };
  await Promise.all(threads.map(work));
  return rows;
}

/** Memory shared with one worker, large enough for its largest task. */
function sharedMemory(towers: Towers): Pick<WorkerSettings, 'input' | 'output' | 'labels'> {
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
