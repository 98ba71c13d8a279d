import t from 'tap';
import type { Encoder } from '../../../src/engine/encode/encoder.ts';
import { IndexModels } from '../../../src/engine/encode/index-models.ts';
import { PreviousModels } from '../../../src/engine/encode/previous-models.ts';
import type { SpaceSpec } from '../../../src/engine/space.ts';

const OPEN_MAX = 4;

const spaceOf = (model: number): SpaceSpec => ({
  name: 'text_semantic',
  dimensions: 8,
  modelSha256: String(model).repeat(64),
});

/** Previous models, and which of them are open. Model 9 is not installed. */
function rig() {
  const open: string[] = [];
  const log: { event?: string }[] = [];
  const models = new PreviousModels({
    open: async ({ modelSha256 }) => {
      const model = modelSha256[0]!;
      if (model === '9') return undefined;
      open.push(model);
      return { model, close: async () => void open.splice(open.indexOf(model), 1) } as unknown as Encoder;
    },
    log: (event) => void log.push(event),
  });
  const use = (model: number, tenant = 'ws_a') => models.use(tenant, [spaceOf(model)], async () => undefined);
  /** Uses a model until the call of what it resolves to. */
  const hold = (model: number, tenant = 'ws_a') =>
    new Promise<() => Promise<void>>((resolve) => {
      let release = () => {};
      const released = new Promise<void>((free) => {
        release = free;
      });
      const done = models.use(tenant, [spaceOf(model)], async () => {
        resolve(() => {
          release();
          return done;
        });
        await released;
      });
    });
  return { models, open, log, use, hold };
}

t.test('a model that is used stays open; one more than may be open closes the idlest', async (t) => {
  const { models, open, use, hold } = rig();
  const release = await hold(1);
  for (const model of [2, 3, 4, 5]) await use(model);
  t.same(open, ['1', '3', '4', '5'], 'the oldest is in use');
  t.equal(models.count, OPEN_MAX);
  await release();
  await use(6);
  t.same(open, ['3', '4', '5', '6'], 'and closes like the others once it is not');
});

t.test('while all that may be open are used, a further one is refused and nothing is closed', async (t) => {
  const { open, use, hold } = rig();
  const releases = await Promise.all([1, 2, 3, 4].map((model) => hold(model)));
  await t.rejects(use(5), { code: 'overloaded', detail: /busy/ });
  await use(1);
  await use(9).catch(() => undefined);
  t.same(open, ['1', '2', '3', '4']);
  for (const release of releases) await release();
  await use(5);
  t.same(open, ['1', '3', '4', '5'], 'one is free now: the idlest of all closes');
});

t.test('a model closes once the last Tenant that used it is gone, after its uses', async (t) => {
  const { models, open, use, hold } = rig();
  await use(1, 'ws_a');
  await use(1, 'ws_b');
  const release = await hold(2, 'ws_b');
  models.gone((tenant) => tenant === 'ws_a');
  t.same(open, ['1', '2']);
  models.gone(() => true);
  await new Promise(setImmediate);
  t.same(open, ['2'], 'it is being used');
  await release();
  await new Promise(setImmediate);
  t.same(open, []);
  await use(1);
  t.same(open, ['1'], 'a Tenant that comes back opens it again');
});

t.test('a model that is not installed is no open one, and is looked for once', async (t) => {
  const { models, log, use } = rig();
  await use(9);
  await use(9);
  t.equal(models.count, 0);
  t.match(log, [{ event: 'previous_model_missing' }]);
  t.equal(log.length, 1);
});

t.test('texts are cut by the model of their index', async (t) => {
  const cutBy: string[] = [];
  const encoder = (model: string) =>
    ({
      spaces: [{ ...spaceOf(Number(model)) }],
      cutPassages: async () => {
        cutBy.push(model);
        return [];
      },
      close: async () => undefined,
    }) as unknown as Encoder;
  const models = new IndexModels({
    current: encoder('1'),
    open: async ({ modelSha256 }) => (modelSha256[0] === '9' ? undefined : encoder(modelSha256[0]!)),
    log: () => undefined,
  });
  for (const model of [1, 2, 9])
    await models.cutPassages({ blocks: [] }, {}, { tenant: 'ws_a', spaces: [spaceOf(model)] });
  t.same(cutBy, ['1', '2', '1'], 'by the one in use where its own is not installed');
});
