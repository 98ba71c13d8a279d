import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { newId } from '../../../src/domain/id.ts';
import { JobTurns } from '../../../src/ingest/jobs/job-turns.ts';

t.test('jobs of all slots share the places, and Tenants take turns', async (t) => {
  const turns = new JobTurns(2);
  const [greedy, other] = [newId('workspace'), newId('workspace')];
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const push = (tenant: typeof greedy, name: string) =>
    turns.push({
      tenant,
      begin: () => {
        begun.push(name);
        return new Promise((resolve) => ends.push(resolve));
      },
    });
  for (const name of ['a', 'b', 'c']) push(greedy, name);
  push(other, 'd');
  t.same(begun, ['a', 'd'], 'one Tenant leaves a place to the others');
  for (let ended = 0; ended < 4; ended++) {
    ends[ended]!();
    await setImmediate();
  }
  t.same(begun, ['a', 'd', 'b', 'c']);
});

t.test('what is unfinished is summed up over the slots', (t) => {
  const turns = new JobTurns(2);
  for (const count of [3, 4]) turns.join(() => count);
  t.equal(turns.unfinished, 7);
  t.end();
});
