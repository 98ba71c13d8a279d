import { join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import { type ChosenWeights, formerWeights } from '../models/chosen-weights.ts';
import { embedLabels, readLabels } from '../models/labels.ts';
import type { Candidate, Towers } from '../models/tower.ts';
import type { CutSettings } from '../text/passage.ts';
import { EncoderThread } from './encoder-thread.ts';
import { TASK_ROWS_MAX, type TowerReport, type WorkerSettings } from './protocol.ts';
import type { WorkerCounts } from './worker-counts.ts';

/** Worker threads with their sessions open and warm. */
export interface Workers {
  readonly slots: readonly EncoderThread[];
  /** More ingest workers, which are still opening theirs. */
  readonly opening: readonly EncoderThread[];
  /** Per tower, the texts first: the query worker's report, or a failure of any. */
  readonly reports: readonly TowerReport[];
  readonly labelsCached: boolean;
}

interface PassedOver {
  readonly model: string;
  readonly provider: string;
  readonly reason: string;
}

/** The towers with one candidate each, the provider that serves; those that nothing serves are told with the reasons. */
export interface Chosen {
  readonly towers: Towers;
  readonly rejected: readonly PassedOver[];
  /** What would have served as well, and was not chosen. */
  readonly slower: readonly PassedOver[];
}

/** Lets a worker try what can't be told without trying; with nothing but the processor there is nothing to try. */
export async function chooseProviders(
  towers: Towers,
  cutting: CutSettings,
  former: ChosenWeights,
): Promise<Chosen> {
  const processorAlone = ({ candidates }: { candidates: Towers['texts'][number]['candidates'] }) =>
    candidates.length === 1 && candidates[0]!.provider === 'cpu';
  if (towers.texts.every(processorAlone) && (!towers.picture || processorAlone(towers.picture)))
    return { towers, rejected: [], slower: [] };
  const slot = new EncoderThread({
    ...memory(towers),
    role: 'query',
    towers,
    cutting,
    choosing: formerWeights(towers, former),
  });
  try {
    const choices = await slot.choose();
    const chosen = <T extends { candidates: Towers['texts'][number]['candidates'] }>(
      tower: T,
      index: number,
    ): T => {
      const candidate = choices[index]?.candidate;
      return { ...tower, candidates: candidate ? [candidate] : [] };
    };
    const texts = towers.texts.map((tower, index) => chosen(tower, index));
    const picture = towers.picture ? chosen(towers.picture, texts.length) : undefined;
    const all = [...texts, ...(picture ? [picture] : [])];
    const passedOver = (why: 'rejected' | 'slower') =>
      choices.flatMap((choice, index) => choice[why].map((one) => ({ model: all[index]!.model, ...one })));
    return {
      towers: { texts, ...(picture ? { picture } : {}) },
      rejected: passedOver('rejected'),
      slower: passedOver('slower'),
    };
  } finally {
    await slot.close();
  }
}

/**
 * Starts the workers; each opens and warms up its own sessions. Every query worker and one for ingests are waited for: of
 * more, the first request need not know, and nobody has to wait for them.
 */
export async function startWorkers(
  chosen: Towers,
  cutting: CutSettings,
  counts: WorkerCounts,
  cacheFolder: string,
): Promise<Workers> {
  const towers = keepingGraphs(chosen, cacheFolder);
  const shared = memory(towers);
  const start = (role: EncoderThread['role'], count: number): EncoderThread[] =>
    Array.from({ length: count }, () => {
      // Labels are one table for all; the memory of tasks is each worker's own.
      const { input, output } = memory(towers);
      return new EncoderThread({ role, towers, cutting, labels: shared.labels, input, output });
    });
  const slots = [...start('query', counts.query), ...start('ingest', Math.min(1, counts.ingest))];
  try {
    // While the workers open.
    const table = new Float32Array(shared.labels);
    const [all, labelsKept] = await Promise.all([
      Promise.all(slots.map((slot) => slot.report())),
      readLabels(towers, table, cacheFolder),
    ]);
    const reports = (all[0] ?? []).map(
      (report, index) => all.map((one) => one[index]!).find(({ failure }) => failure) ?? report,
    );
    const bridge = towers.picture?.bridge;
    const labelsCached = labelsKept || !bridge || reports[bridge.text]?.failure !== undefined;
    if (!labelsCached)
      await embedLabels(towers, bridge, table, cacheFolder, (texts) =>
        encodeLabels(slots, bridge.text, bridge.dimensions, texts),
      );
    return { slots, opening: start('ingest', counts.ingest - 1), reports, labelsCached };
  } catch (error) {
    await Promise.all(slots.map((slot) => slot.close()));
    throw new FarthingError('models_invalid', 'The encoders could not be started.', { cause: error });
  }
}

/** Graphs for the processor are optimised once and kept in the cache folder: opening them takes a third of the time. */
function keepingGraphs({ texts, picture }: Towers, cacheFolder: string): Towers {
  const graphsFolder = join(cacheFolder, 'graphs');
  const keeping = <T extends { readonly candidates: readonly Candidate[] }>(tower: T): T => ({
    ...tower,
    candidates: tower.candidates.map((one) => (one.provider === 'cpu' ? { ...one, graphsFolder } : one)),
  });
  return { texts: texts.map(keeping), ...(picture ? { picture: keeping(picture) } : {}) };
}

/** All workers share the labels; each takes the next ones as it becomes idle. */
async function encodeLabels(
  slots: readonly EncoderThread[],
  tower: number,
  dimensions: number,
  texts: readonly string[],
): Promise<Float32Array[]> {
  const rows = new Array<Float32Array>(texts.length);
  let next = 0;
  const work = async (slot: EncoderThread) => {
    while (next < texts.length) {
      const start = next;
      next += TASK_ROWS_MAX;
      const part = texts.slice(start, start + TASK_ROWS_MAX);
      await slot.encode({ kind: 'texts', towers: [tower], use: 'passage', texts: part });
      part.forEach((_, row) => {
        rows[start + row] = slot.output.slice(row * dimensions, (row + 1) * dimensions);
      });
    }
  };
  await Promise.all(slots.map(work));
  return rows;
}

/** Memory shared with one worker, large enough for its largest task. */
function memory({ texts, picture }: Towers): Pick<WorkerSettings, 'input' | 'output' | 'labels'> {
  const words = texts.reduce((sum, { settings }) => sum + settings.dimensions, 0);
  const bridge = picture?.bridge;
  const pictureRow = (picture?.settings.dimensions ?? 0) + (bridge?.dimensions ?? 0);
  return {
    input: new SharedArrayBuffer(picture ? pictureBytes(picture.settings) * pictureRows(picture) : 0),
    output: new SharedArrayBuffer(
      TASK_ROWS_MAX * Math.max(words, pictureRow, 1) * Float32Array.BYTES_PER_ELEMENT,
    ),
    labels: new SharedArrayBuffer(
      (bridge ? bridge.labels.length * bridge.dimensions : 0) * Float32Array.BYTES_PER_ELEMENT,
    ),
  };
}

/** Pictures of one task, at most. */
export function pictureRows({ candidates }: NonNullable<Towers['picture']>): number {
  const rows = candidates.map(({ queryRows, ingestRows }) => Math.max(queryRows, ingestRows));
  return Math.min(TASK_ROWS_MAX, Math.max(1, ...rows));
}

export function pictureBytes({ width, height }: { width: number; height: number }): number {
  return width * height * 3;
}
