import { parentPort, Worker } from 'node:worker_threads';

type Answer = { readonly result: unknown } | { readonly error: unknown };

/**
 * A worker thread for one task at a time. It starts with the first task that needs it, and again after it has died or rested. It ends
 * only between tasks: ending it inside a model's run would end the process.
 */
export class TaskThread<Task> {
  readonly #program: URL;
  readonly #workerData: unknown;
  readonly #idleMsMax: number | undefined;
  #thread: Worker | undefined;
  #running: Promise<unknown> | undefined;
  #resolve: (result: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #idle: NodeJS.Timeout | undefined;

  /**
   * @param program calls `answerTasks`
   * @param idleMsMax the thread ends after so long without a task. Absent: it stays
   */
  constructor(program: URL, workerData: unknown, idleMsMax?: number) {
    this.#program = program;
    this.#workerData = workerData;
    this.#idleMsMax = idleMsMax;
  }

  /** @throws what the task throws, or how the thread ended */
  async run(task: Task): Promise<unknown> {
    if (this.#running) throw new Error('a thread takes one task at a time');
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    const thread = this.#thread;
    thread.ref();
    this.#running = new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
      thread.postMessage(task);
    });
    try {
      return await this.#running;
    } finally {
      this.#running = undefined;
      thread.unref();
      if (this.#idleMsMax !== undefined)
        this.#idle = setTimeout(() => void this.rest(), this.#idleMsMax).unref();
    }
  }

  /** Waits for the running task, then ends the thread. The next task starts it again. */
  async rest(): Promise<void> {
    while (this.#running) await this.#running.catch(() => undefined);
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(this.#program, { workerData: this.#workerData });
    const end = (error: unknown): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#reject(error);
    };
    thread.on('message', (answer: Answer) =>
      'error' in answer ? this.#reject(answer.error) : this.#resolve(answer.result),
    );
    thread.on('error', end);
    thread.on('exit', (code) => end(new Error(`the thread ended with ${code}`)));
    return thread;
  }
}

/** Inside the thread: answers each task. If the thread fails to start, the task fails. */
export function answerTasks<Task>(perform: (task: Task) => unknown): void {
  parentPort!.on('message', async (task: Task) => {
    let answer: Answer;
    try {
      answer = { result: await perform(task) };
    } catch (error) {
      answer = { error };
    }
    parentPort!.postMessage(answer);
  });
}
