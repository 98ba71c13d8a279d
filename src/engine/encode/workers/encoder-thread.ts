import { awaitCrossing, type native } from '@farthing/native';
import type { RunTotals, Use } from '../session/runner.ts';
import type { NativeTextRunner } from '../text/native-text-runner.ts';
import type { CutPassage, PlacedBlock } from '../text/passage.ts';
import type {
  ChoosingSettings,
  CutTask,
  EncodeTask,
  Task,
  TextsTask,
  TowerChoice,
  TowerReport,
  WorkTotals,
} from './protocol.ts';
import { TaskThread } from './task-thread.ts';

export interface EncoderThreadOptions {
  /** The native encoder's models, by the index of their tower. */
  readonly natives?: readonly (NativeTextRunner | undefined)[];
  /** Cuts documents; absent where nothing is cut. */
  readonly cutter?: InstanceType<typeof native.PassageCutter>;
  /** The worker ends after so long without a task, and starts again with the next. Absent: it stays. */
  readonly idleMsMax?: number;
  readonly worker?: URL;
  /** All its tasks are of native models: there is no worker. */
  readonly isNative?: boolean;
}

const WORKER = new URL('./worker.ts', import.meta.url);

/**
 * Takes one task at a time, on a worker thread with shared memory. The dispatcher knows which thread has which task. Texts whose models
 * are all native go to the native encoder's threads instead, and so do documents to be cut: waking a worker's event loop takes longer
 * than the hop there and back.
 */
export class EncoderThread {
  readonly role: Use;
  readonly input: Uint8Array;
  readonly output: Float32Array;
  readonly #options: EncoderThreadOptions;
  readonly #thread: TaskThread<Task>;
  #running: Promise<unknown> | undefined;

  constructor(settings: ChoosingSettings, options: EncoderThreadOptions = {}) {
    this.#thread = new TaskThread(options.worker ?? WORKER, settings, options.idleMsMax);
    this.#options = options;
    this.role = settings.role;
    this.input = new Uint8Array(settings.input);
    this.output = new Float32Array(settings.output);
  }

  async report(): Promise<TowerReport[]> {
    if (this.#options.isNative) return [];
    return this.#run({ kind: 'report' });
  }

  choose(): Promise<TowerChoice[]> {
    return this.#run({ kind: 'choose' });
  }

  encode(task: EncodeTask): Promise<WorkTotals> {
    const runners = task.kind === 'texts' ? this.#nativesOf(task) : undefined;
    if (!runners) return this.#run(task);
    return this.#hold(() => this.#encodeNatively(runners, task as TextsTask));
  }

  /** The native models of a task; undefined if another takes part, too. */
  #nativesOf({ towers }: TextsTask): NativeTextRunner[] | undefined {
    const runners = towers.map((index) => this.#options.natives?.[index]);
    return runners.every((runner) => runner !== undefined) ? runners : undefined;
  }

  async #encodeNatively(
    runners: readonly NativeTextRunner[],
    { texts, use, urgent }: TextsTask,
  ): Promise<WorkTotals> {
    const stride = runners.reduce((sum, runner) => sum + runner.dimensions, 0);
    const totals: RunTotals = { runs: 0, tokens: 0, padding: 0 };
    let offset = 0;
    for (const runner of runners) {
      const { output } = this;
      const threads = urgent ? 'query' : use;
      const { runs, tokens, sinceMs } = await runner.encode(texts, use, output, offset, stride, threads);
      totals.runs += runs;
      totals.tokens += tokens;
      totals.sinceMs = sinceMs;
      offset += runner.dimensions;
    }
    return totals;
  }

  cut({ title, blocks }: CutTask): Promise<CutPassage[]> {
    const { cutter } = this.#options;
    if (!cutter) throw new Error('no cutter is open here');
    return this.#hold(() => awaitCrossing(() => cutter.cut(title, blocks as PlacedBlock[])));
  }

  #run<T>(task: Task): Promise<T> {
    return this.#hold(() => this.#thread.run(task) as Promise<T>);
  }

  async #hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running) throw new Error('a worker takes one task at a time');
    const running = work();
    this.#running = running;
    try {
      return await running;
    } finally {
      this.#running = undefined;
    }
  }

  /** Waits for the running task, then ends the worker. The next task that needs one starts it again. */
  async rest(): Promise<void> {
    while (this.#running) await this.#running.catch(() => {});
    await this.#thread.rest();
  }
}
