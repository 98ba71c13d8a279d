import { setTimeout as pause } from 'node:timers/promises';
import tap from 'tap';
import { EncoderThread } from '../../../../src/engine/encode/workers/encoder-thread.ts';

const worker = new URL('./which-worker.ts', import.meta.url);

function open(t: Pick<typeof tap, 'teardown'>, idleMsMax?: number): EncoderThread {
  const [input, output, labels] = [0, 1, 2].map(() => new SharedArrayBuffer(0)) as [
    SharedArrayBuffer,
    SharedArrayBuffer,
    SharedArrayBuffer,
  ];
  const thread = new EncoderThread(
    { role: 'ingest', towers: [], input, output, labels },
    { worker, ...(idleMsMax !== undefined && { idleMsMax }) },
  );
  t.teardown(() => thread.rest());
  return thread;
}

const workerOf = async (thread: EncoderThread) => (await thread.report())[0]!.provider;

tap.test('a worker stays for its tasks, and another one starts after a rest', async (t) => {
  const thread = open(t);
  await thread.rest();
  const first = await workerOf(thread);
  t.equal(await workerOf(thread), first);
  await thread.rest();
  t.not(await workerOf(thread), first);
});

tap.test('a worker that has had nothing to do for long enough ends', async (t) => {
  const thread = open(t, 1);
  const first = await workerOf(thread);
  // A task that comes first keeps it: the next pause is longer.
  for (let ms = 2; (await workerOf(thread)) === first; ms *= 2) await pause(ms);
  t.pass('another one answered');
});

tap.test('a rest waits for the running task', async (t) => {
  const thread = open(t);
  const running = workerOf(thread);
  await thread.rest();
  t.match(await running, /^\d+$/);
});
