import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { PictureRunner } from '../picture/picture-runner.ts';
import type { RunTotals, Use } from '../session/runner.ts';
import { chooseCandidate, tryTower } from './choose.ts';
import type {
  ChoosingSettings,
  RowsTask,
  Task,
  TextsTask,
  TowerChoice,
  TowerReport,
  WorkTotals,
} from './protocol.ts';
import { answerTasks } from './task-thread.ts';
import { type OpenTower, openTower } from './warm-up.ts';

/** The event loop, for which all clients wait, comes before one query, and a query before a long run of an ingest. */
const NICENESS: Record<Use, number> = { query: 2, ingest: 10 };

type TaskResult = TowerReport[] | TowerChoice[] | WorkTotals;

class Worker {
  readonly #settings: ChoosingSettings;
  readonly #output: Float32Array;
  readonly #towers: (OpenTower | undefined)[] = [];
  readonly #reports: TowerReport[] = [];

  constructor(settings: ChoosingSettings) {
    this.#settings = settings;
    this.#output = new Float32Array(settings.output);
  }

  /** Opens every tower with its first candidate, the chosen one. A tower that fails is reported; the others serve. */
  async open(): Promise<void> {
    const labels = new Float32Array(this.#settings.labels);
    for (const tower of this.#settings.towers) {
      try {
        const opened = await openTower(tower, tower.candidates[0]!, labels);
        this.#towers.push(opened);
        this.#reports.push(opened.report);
      } catch (error) {
        this.#towers.push(undefined);
        const failure = error instanceof Error ? error.message : String(error);
        this.#reports.push({ model: tower.model, provider: '', warmupMs: 0, failure });
      }
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
      case 'rows':
        return this.#withLosses(await this.#encodeRows(task));
    }
  }

  #withLosses(totals: WorkTotals): WorkTotals {
    const losses = this.#towers.flatMap((tower) =>
      tower?.session?.loss === undefined
        ? []
        : [{ model: tower.report.model, provider: tower.report.provider, reason: tower.session.loss }],
    );
    return losses.length > 0 ? { ...totals, losses } : totals;
  }

  async #choose(): Promise<TowerChoice[]> {
    const choices: TowerChoice[] = [];
    for (const tower of this.#settings.towers)
      choices.push(await chooseCandidate(tower.candidates, (candidate) => tryTower(tower, candidate)));
    return choices;
  }

  #runner(index: number): OpenTower['runner'] {
    const opened = this.#towers[index];
    if (!opened) throw new Error(`${this.#settings.towers[index]?.model} is not open in this worker`);
    return opened.runner;
  }

  async #encodeTexts({ towers, use, texts }: TextsTask): Promise<WorkTotals> {
    const runners = towers.map((index) => this.#runner(index));
    const stride = runners.reduce((sum, runner) => sum + runner.dimensions, 0);
    const totals: RunTotals = { runs: 0, tokens: 0, padding: 0 };
    let offset = 0;
    for (const runner of runners) {
      if (runner instanceof PictureRunner) throw new Error('texts were sent to a tower that takes none');
      const { runs, tokens, padding } = await runner.encode(texts, use, this.#output, offset, stride);
      totals.runs += runs;
      totals.tokens += tokens;
      totals.padding += padding;
      offset += runner.dimensions;
    }
    return totals;
  }

  async #encodeRows({ tower, use, count, bridged }: RowsTask): Promise<WorkTotals> {
    const runner = this.#runner(tower);
    if (!(runner instanceof PictureRunner)) throw new Error('inputs of fixed size were sent to a text tower');
    return runner.encode(new Uint8Array(this.#settings.input), count, use, this.#output, bridged);
  }
}

const settings = workerData as ChoosingSettings;
const worker = new Worker(settings);
if (!settings.choosing) await worker.open();
// Not while it opens, which others wait for. On Linux, process 0 is the calling thread.
setPriority(0, NICENESS[settings.role]);
answerTasks((task: Task) => worker.handle(task));
