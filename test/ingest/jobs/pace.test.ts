import t from 'tap';
import { Pace } from '../../../src/ingest/jobs/pace.ts';

t.test('what is left takes as long as what is done did, and nothing is said too early', async (t) => {
  let now = 0;
  const pace = new Pace(() => now);
  t.equal(pace.secondsLeft('a', 0.5), undefined, 'it has not begun');
  pace.begin('a');
  now = 100;
  t.equal(pace.secondsLeft('a', 0.5), undefined, 'too little time');
  now = 3000;
  t.equal(pace.secondsLeft('a', 0.01), undefined, 'too little done');
  t.equal(pace.secondsLeft('a', 0.25), 9);
  t.equal(pace.secondsLeft('a', 1), 0);
  pace.end('a');
  t.equal(pace.secondsLeft('a', 0.5), undefined);
});
