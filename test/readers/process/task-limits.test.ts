import { mock } from 'node:test';
import t from 'tap';
import { type TaskLimits, TaskWatch } from '../../../src/readers/process/task-limits.ts';

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
t.afterEach(() => mock.timers.reset());

/** Watches a task in a process that is made up; all of a processor is its own unless the test says otherwise. */
function watched(limits: Partial<TaskLimits>) {
  const process = { processorSeconds: 0, kills: 0, kill: async () => void process.kills++ };
  const watch = new TaskWatch(process, { secondsMax: 60, ...limits });
  return { process, watch };
}

t.test('a task that takes too long is ended, but not while it is held back or after its end', async (t) => {
  const { process, watch } = watched({ secondsMax: 1 });
  process.processorSeconds = 0.5;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting = [watch.holdBack(() => held), watch.holdBack(() => held)];
  mock.timers.tick(5_000);
  t.equal(process.kills, 0);
  release();
  await Promise.all(waiting);
  mock.timers.tick(1_000);
  t.equal(process.kills, 1);
  t.match(watch.endReason, { code: 'extraction_timeout', facts: { limit_seconds: 1 } });
  const ended = watched({ secondsMax: 1 });
  const late = ended.watch.holdBack(async () => undefined);
  ended.watch.finish();
  await late;
  mock.timers.tick(5_000);
  t.equal(ended.process.kills, 0);
});

t.test('a process that had no processor says nothing of its file', async (t) => {
  const { process, watch } = watched({ secondsMax: 1 });
  process.processorSeconds = 0.01;
  mock.timers.tick(1_000);
  t.match(watch.endReason, { code: 'overloaded' });
});

t.test('a task whose process had less than half a processor is told that the server is busy', async (t) => {
  const { process, watch } = watched({ secondsMax: 60 });
  process.processorSeconds = 4;
  mock.timers.tick(60_000);
  t.match(watch.endReason, {
    code: 'extraction_timeout',
    detail: /60 seconds, of which it had a processor for 4: the server is busy/,
    facts: { limit_seconds: 60, processor_seconds: 4 },
  });
});

t.test('a task that takes more of a processor than it may is ended', async (t) => {
  const { process, watch } = watched({ processorSecondsMax: 10 });
  process.processorSeconds = 10;
  mock.timers.tick(1_000);
  t.equal(process.kills, 0);
  process.processorSeconds = 10.1;
  mock.timers.tick(250);
  t.ok(process.kills);
  t.match(watch.endReason, { code: 'extraction_timeout', facts: { limit_processor_seconds: 10 } });
  watch.finish();
});

t.test('an aborted task has a second to end; what a listener throws ends it at once', async (t) => {
  const sender = new AbortController();
  const { process, watch } = watched({ signal: sender.signal });
  sender.abort(new Error('the client left'));
  mock.timers.tick(999);
  t.equal(process.kills, 0);
  mock.timers.tick(1);
  t.match(watch.endReason, { message: 'the client left' });
  const other = watched({});
  other.watch.holdBack(() => {
    throw new Error('the disk is full');
  });
  t.match(other.watch.endReason, { message: 'the disk is full' });
  watch.finish();
  other.watch.finish();
});
