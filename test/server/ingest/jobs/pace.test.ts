import t from 'tap';
import { newId } from '../../../../src/protocol/id.ts';
import { Pace } from '../../../../src/server/ingest/jobs/pace.ts';

const JOB = newId('job');

t.test('the time left follows from the pace so far, once there is enough of it', async (t) => {
  let now = 0;
  const pace = new Pace(() => now);
  t.equal(pace.secondsLeft(JOB, 0.5), undefined, 'it has not begun');
  pace.begin(JOB);
  now = 100;
  t.equal(pace.secondsLeft(JOB, 0.5), undefined, 'too little time');
  now = 3000;
  t.equal(pace.secondsLeft(JOB, 0.01), undefined, 'too little done');
  t.equal(pace.secondsLeft(JOB, 0.25), 9);
  t.equal(pace.secondsLeft(JOB, 1), 0);
  pace.end(JOB);
  t.equal(pace.secondsLeft(JOB, 0.5), undefined);
});
