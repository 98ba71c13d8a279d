import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { native } from '../../native/index.ts';
import type { CutPassage } from '../text/passage.ts';
import { chooseCandidate, type Try, tryPicture, tryText } from './choose.ts';
import type { ChoosingSettings, Task, TowerChoice, TowerReport, WorkTotals } from './protocol.ts';
import { type OpenedPicture, type OpenedText, openPicture, openText } from './warm-up.ts';

/** Lower than the event loop and the query worker: a long run of an ingest must not hold up a search. */
const INGEST_NICENESS = 10;

type TaskResult = TowerReport[] | TowerChoice[] | WorkTotals | CutPassage[];

class Worker {
  readonly #settings: ChoosingSettings;
  readonly #output: Float32Array;
  readonly #texts: (OpenedText | undefined)[] = [];
  #picture: OpenedPicture | undefined;
  readonly #reports: TowerReport[] = [];
  #cutter: InstanceType<typeof native.PassageCutter> | undefined;

  constructor(settings: ChoosingSettings) {
    this.#settings = settings;
    this.#output = new Float32Array(settings.output);
  }

  /** Opens every tower with its first candidate, the chosen one. One that fails is reported, the others serve. */
  async open(): Promise<void> {
    const { texts, picture } = this.#settings.towers;
    for (const tower of texts) {
      const opened = await this.#attempt(tower.model, () => openText(tower, tower.candidates[0]!));
      this.#texts.push(opened);
    }
    if (picture) {
      const labels = new Float32Array(this.#settings.labels);
      this.#picture = await this.#attempt(picture.model, () =>
        openPicture(picture, picture.candidates[0]!, labels),
      );
    }
  }

  async #attempt<T extends { report: TowerReport }>(
    model: string,
    open: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      const opened = await open();
      this.#reports.push(opened.report);
      return opened;
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      this.#reports.push({ model, provider: '', warmupMs: 0, failure });
      return undefined;
    }
  }

  async handle(task: Task): Promise<TaskResult> {
    switch (task.kind) {
      case 'report':
        return this.#reports;
      case 'choose':
        return this.#choose();
      case 'texts':
        return this.#withLosses(await this.#encodeTexts(task));
      case 'pictures':
        return this.#withLosses(await this.#encodePictures(task));
      case 'cut':
        return this.#cut(task);
    }
  }

  #withLosses(totals: WorkTotals): WorkTotals {
    const losses = [...this.#texts, this.#picture].flatMap((opened) =>
      opened?.session.loss === undefined
        ? []
        : [{ model: opened.report.model, provider: opened.report.provider, reason: opened.session.loss }],
    );
    return losses.length > 0 ? { ...totals, losses } : totals;
  }

  async #choose(): Promise<TowerChoice[]> {
    const { texts, picture } = this.#settings.towers;
    const former = this.#settings.choosing ?? [];
    const choices: TowerChoice[] = [];
    for (const tower of texts) {
      const open: Try = (candidate, measured) => tryText(tower, candidate, measured);
      choices.push(await chooseCandidate(tower.candidates, open, former[choices.length]));
    }
    if (picture) {
      const open: Try = (candidate, measured) => tryPicture(picture, candidate, measured);
      choices.push(await chooseCandidate(picture.candidates, open, former[choices.length]));
    }
    return choices;
  }

  async #encodeTexts({ towers, use, texts }: Extract<Task, { kind: 'texts' }>): Promise<WorkTotals> {
    const runners = towers.map((index) => {
      const opened = this.#texts[index];
      if (!opened) throw new Error('the text model is not open in this worker');
      return opened.runner;
    });
    const stride = runners.reduce((sum, runner) => sum + runner.dimensions, 0);
    const totals = { runs: 0, tokens: 0, padding: 0 };
    let offset = 0;
    for (const runner of runners) {
      const { runs, tokens, padding } = await runner.encode(texts, use, this.#output, offset, stride);
      totals.runs += runs;
      totals.tokens += tokens;
      totals.padding += padding;
      offset += runner.dimensions;
    }
    return totals;
  }

  async #encodePictures({ use, count, words }: Extract<Task, { kind: 'pictures' }>): Promise<WorkTotals> {
    if (!this.#picture) throw new Error('the picture model is not open in this worker');
    const rgb = new Uint8Array(this.#settings.input);
    const runs = await this.#picture.runner.encode(rgb, count, use, this.#output, words);
    return { runs, tokens: 0, padding: 0 };
  }

  #cut({ title, blocks }: Extract<Task, { kind: 'cut' }>): CutPassage[] {
    const { tokenizerPath, limit, specialTokens, prefix } = this.#settings.cutting;
    this.#cutter ??= new native.PassageCutter(tokenizerPath, { limit, specialTokens, dropped: [] }, prefix);
    return this.#cutter.cut(title, blocks as PlacedBlocks);
  }
}

type PlacedBlocks = Parameters<InstanceType<typeof native.PassageCutter>['cut']>[1];

async function start(): Promise<(task: Task) => Promise<TaskResult>> {
  const settings = workerData as ChoosingSettings;
  // On Linux, process 0 is the calling thread.
  if (settings.role === 'ingest') setPriority(0, INGEST_NICENESS);
  const worker = new Worker(settings);
  if (!settings.choosing) await worker.open();
  return (task) => worker.handle(task);
}

// Piscina awaits the export before it calls the worker ready. A failed start is told to each task: a worker that threw here
// would only be started again.
export default start().catch((error: unknown) => (): Promise<TaskResult> => Promise.reject(error));
