import t from 'tap';
import { type FilledSpace, ModelHistory } from '../../../src/server/state/model-history.ts';
import { openStore } from '../../../src/server/state/store.ts';

const DAY = 86_400_000;
const space = (weights: string, name = 'text_semantic'): FilledSpace => ({
  name,
  weights,
  modelSha256: `of ${weights}`,
});
const LOOK = space('mobilenet', 'visual_picture');

function historyOf(folder: string) {
  const store = openStore(folder);
  t.teardown(() => store.close());
  const clock = { now: DAY, lifetimeMs: 7 * DAY };
  const open = async (...inUse: FilledSpace[]) => {
    const lifetimeMs = () => clock.lifetimeMs;
    const options = { store, inUse, now: () => clock.now, extendedMs: 30 * DAY, lifetimeMs };
    const history = new ModelHistory(options);
    return Object.assign(history, { replaced: await history.start() });
  };
  return { clock, open };
}

t.test('after a change older indexes end in time, and their model is named until then', async (t) => {
  const { clock, open } = historyOf(t.testdir());
  await open(space('minilm'), LOOK);
  clock.now = 3 * DAY;
  const history = await open(space('bge'), LOOK);
  t.same(history.replaced, [space('minilm')]);
  t.equal(history.endsBy(2 * DAY), 33 * DAY);
  t.equal(history.endsBy(3 * DAY), undefined, 'one that began with the new model goes on');
  t.same(history.previous(), [{ space: 'text_semantic', weights: 'minilm', until: 33 * DAY }]);
  clock.now = 33 * DAY;
  t.same(history.previous(), []);
  clock.lifetimeMs = 9999 * DAY;
  t.match(history.previous(), [{ until: 10_002 * DAY }], 'while some live longer');
});
