import { workerData } from 'node:worker_threads';
import type { Task, WorkerSettings } from '../../../../src/engine/encode/workers/protocol.ts';
import { answerTasks } from '../../../../src/engine/encode/workers/task-thread.ts';

/**
 * A worker that fails as its texts say: `throw` throws once, `exit` ends the thread once, `always` throws each time, `lose`
 * ends the thread once, and its successor has no model and fails everything. Other texts get the row [length, 1]. The shared
 * labels, which outlive the thread, record what has failed. Ingests count how many of their tasks run at once; `meet` waits
 * until two do.
 */
const settings = workerData as WorkerSettings;
const output = new Float32Array(settings.output);
const failed = new Int32Array(settings.labels);

/** Places in the shared labels: running tasks of ingests, the most at once so far, and all that began. */
const [RUNNING, MOST, BEGUN] = [997, 998, 999] as const;
/** Place in the thread's own memory, behind all rows: its successor has lost its model. */
const LOSES = 127;
const FAILS_ONCE = new Set(['throw', 'exit', 'lose']);
const lost = output[LOSES] === 1;
const MEETING_MS = 60_000;

function count(texts: readonly string[]): void {
  const running = Atomics.add(failed, RUNNING, 1) + 1;
  if (running > Atomics.load(failed, MOST)) Atomics.store(failed, MOST, running);
  Atomics.add(failed, BEGUN, 1);
  Atomics.notify(failed, BEGUN);
  while (texts.includes('meet') && Atomics.load(failed, BEGUN) < 2)
    if (Atomics.wait(failed, BEGUN, 1, MEETING_MS) === 'timed-out') throw new Error('nobody came');
}

answerTasks((task: Task) => {
  if (task.kind === 'report')
    return [{ model: 'm', provider: 'cpu', warmupMs: 0, ...(lost && { failure: 'no memory is left' }) }];
  if (lost) throw new Error('the model is not open');
  if (task.kind !== 'texts') throw new Error('texts only');
  if (task.use === 'ingest') count(task.texts);
  task.texts.forEach((text, row) => {
    const [how, id] = text.split(' ');
    const first = FAILS_ONCE.has(how!) && Atomics.exchange(failed, Number(id), 1) === 0;
    if (first && how === 'lose') output[LOSES] = 1;
    if (first && how !== 'throw') process.exit(3);
    if (first || how === 'always') throw new Error(`failing: ${text}`);
    output.set([text.length, 1], row * 2);
  });
  if (task.use === 'ingest') Atomics.sub(failed, RUNNING, 1);
  return { runs: 1, tokens: task.texts.length, padding: 0 };
});
