import { Piscina } from 'piscina';
import type { Use } from '../session/runner.ts';
import type { CutPassage } from '../text/passage.ts';
import type {
  ChoosingSettings,
  CutTask,
  EncodeTask,
  Task,
  TowerChoice,
  TowerReport,
  WorkTotals,
} from './protocol.ts';

const WORKER = new URL('./worker.ts', import.meta.url);

/**
 * One worker thread and its shared memory: a pool of one, so that each task's worker is known. Waiting work stands in our
 * queue, never in Piscina's. Piscina replaces a worker that died.
 */
export class EncoderThread {
  readonly role: Use;
  readonly input: Uint8Array;
  readonly output: Float32Array;
  readonly #pool: Piscina;
  #running: Promise<unknown> | undefined;

  constructor(settings: ChoosingSettings, worker: URL = WORKER) {
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

  encode(task: EncodeTask): Promise<WorkTotals> {
    return this.#run(task);
  }

  cut(task: CutTask): Promise<CutPassage[]> {
    return this.#run(task);
  }

  async #run<T>(task: Task): Promise<T> {
    if (this.#running) throw new Error('a worker takes one task at a time');
    const running = this.#pool.run(task) as Promise<T>;
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
