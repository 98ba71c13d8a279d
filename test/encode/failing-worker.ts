import { workerData } from 'node:worker_threads';
import type { Task, WorkerSettings } from '../../src/encode/protocol.ts';

/**
 * A worker that fails as its texts say: `throw` throws once, `exit` ends the thread once, `always` throws each time. Other
 * texts get the row [length, 1]. What has failed once is kept in the shared labels, which outlive the thread.
 */
const settings = workerData as WorkerSettings;
const output = new Float32Array(settings.output);
const failed = new Int32Array(settings.labels);

export default async (task: Task): Promise<unknown> => {
  if (task.kind === 'report') return [];
  if (task.kind !== 'texts') throw new Error('texts only');
  task.texts.forEach((text, row) => {
    const [how, id] = text.split(' ');
    const first = (how === 'throw' || how === 'exit') && Atomics.exchange(failed, Number(id), 1) === 0;
    if (first && how === 'exit') process.exit(3);
    if (first || how === 'always') throw new Error(`failing: ${text}`);
    output.set([text.length, 1], row * 2);
  });
  return { runs: 1, tokens: task.texts.length, padding: 0 };
};
