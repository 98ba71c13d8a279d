import { Piscina } from 'piscina';
import type { RunTotals, Use } from '../session/runner.ts';
import type { NativeTextRunner } from '../text/native-text-runner.ts';
import type { CutPassage } from '../text/passage.ts';
import type { QuerySearch } from '../text/query-search.ts';
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

/** The native encoder's models, by the index of their tower. */
type Natives = readonly (NativeTextRunner | undefined)[];

const WORKER = new URL('./worker.ts', import.meta.url);

/**
 * One worker thread and its shared memory: a pool of one, so that each task's worker is known. Waiting work stands in our
 * queue, never in Piscina's. Piscina replaces a worker that died. Texts whose models are all native go to the native encoder's
 * threads in its place: waking a worker's event loop takes longer than the hop there and back.
 */
export class EncoderThread {
  readonly role: Use;
  readonly input: Uint8Array;
  readonly output: Float32Array;
  readonly #pool: Piscina;
  readonly #natives: Natives;
  #running: Promise<unknown> | undefined;

  constructor(settings: ChoosingSettings, natives: Natives = [], worker: URL = WORKER) {
    this.#natives = natives;
    this.role = settings.role;
    this.input = new Uint8Array(settings.input);
    this.output = new Float32Array(settings.output);
    this.#pool = new Piscina({
      filename: worker.href,
      minThreads: 1,
      maxThreads: 1,
      workerData: settings,
      recordTiming: false,
    });
    // A worker may die while idle: the next task goes to its successor.
    this.#pool.on('error', () => {});
  }

  report(): Promise<TowerReport[]> {
    return this.#run({ kind: 'report' });
  }

  choose(): Promise<TowerChoice[]> {
    return this.#run({ kind: 'choose' });
  }

  /** @param searches of each text, the search that may go on where one native model encodes it */
  encode(task: EncodeTask, searches: readonly (QuerySearch | undefined)[] = []): Promise<WorkTotals> {
    const runners = task.kind === 'texts' ? this.#nativesOf(task) : undefined;
    if (!runners) return this.#run(task);
    const following = runners.length === 1 ? searches : [];
    return this.#hold(() => this.#encodeNatively(runners, task as TextsTask, following));
  }

  /** The native models of a task; undefined if another takes part, too. */
  #nativesOf({ towers }: TextsTask): NativeTextRunner[] | undefined {
    const runners = towers.map((index) => this.#natives[index]);
    return runners.every((runner) => runner !== undefined) ? runners : undefined;
  }

  async #encodeNatively(
    runners: readonly NativeTextRunner[],
    { texts, use }: TextsTask,
    searches: readonly (QuerySearch | undefined)[],
  ): Promise<WorkTotals> {
    const stride = runners.reduce((sum, runner) => sum + runner.dimensions, 0);
    const totals: RunTotals = { runs: 0, tokens: 0, padding: 0 };
    let offset = 0;
    for (const runner of runners) {
      const { output } = this;
      const { runs, tokens, sinceMs } = await runner.encode(texts, use, output, offset, stride, searches);
      totals.runs += runs;
      totals.tokens += tokens;
      totals.sinceMs = sinceMs;
      offset += runner.dimensions;
    }
    return totals;
  }

  cut(task: CutTask): Promise<CutPassage[]> {
    return this.#run(task);
  }

  #run<T>(task: Task): Promise<T> {
    return this.#hold(() => this.#pool.run(task) as Promise<T>);
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

  /** Waits for the running task, then ends the thread. Ending it inside a model's run would end the process. */
  async close(): Promise<void> {
    while (this.#running) await this.#running.catch(() => {});
    await this.#pool.destroy();
  }
}
