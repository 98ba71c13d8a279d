import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { newId } from '../../../../src/protocol/id.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { Activity } from '../../../../src/server/workspace/activity/activity.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import '../../../rig/teardown-order.ts';

const ID = newId('workspace');

t.test('a close waits for a write of the history that outlasts the next flush', async (t) => {
  const root = t.testdir();
  const store = openStore(join(root, 'state'));
  t.teardown(() => store.close());
  const events: object[] = [];
  const activity = new Activity({
    store,
    clock: new SimulatedClock(),
    folder: (tenant) => join(root, tenant),
    isOpen: () => true,
    log: (event) => events.push(event),
  });
  // A disk that accepts nothing until a read: a pipe in place of the history's file.
  const history = join(root, ID, 'history');
  mkdirSync(history, { recursive: true });
  const pipe = join(history, '00000001.jsonl');
  execFileSync('mkfifo', [pipe]);
  activity.countSearch(ID, { query: 'held up', k: 1, hits: 0, latency_ms: 1 });
  const slow = activity.flush();
  await store.transaction(() => undefined);
  await new Promise(setImmediate);
  await activity.flush();
  t.ok(activity.has(ID), 'what is being written is not forgotten');
  const order: string[] = [];
  const closed = activity.close(ID).then(() => order.push('closed'));
  // Transactions are ordered: a close that did not wait would have run its transaction by now.
  await store.transaction(() => undefined);
  await store.transaction(() => undefined);
  order.push('read');
  t.match(await readFile(pipe, 'utf8'), /held up/);
  await Promise.all([slow, closed]);
  t.strictSame([order, events], [['read', 'closed'], []]);
});
