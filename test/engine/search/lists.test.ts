import t from 'tap';
import type { Encoder, ServedSpace } from '../../../src/engine/encode/encoder.ts';
import { IndexModels } from '../../../src/engine/encode/index-models.ts';
import { servedLists } from '../../../src/engine/search/lists.ts';
import { planLists } from '../../../src/engine/search/plan.ts';
import type { SpaceSpec } from '../../../src/engine/space.ts';
import type { SpaceName } from '../../../src/protocol/family.ts';

const settings = { weight: 1, calibration: { a: 1, b: 0 } };
const list = { ...settings, weight: 0.5 };

function space(name: SpaceName, change: Partial<ServedSpace> = {}): ServedSpace {
  return {
    name,
    dimensions: 8,
    modelSha256: 'ab'.repeat(32),
    model: `model of ${name}`,
    revision: '1',
    provider: 'cpu',
    weights: 'weights',
    warmupMs: 1.234,
    notes: [],
    asksWith: { text: {} },
    lists: { text_semantic: list, visual_words: list, visual_picture: list },
    ...change,
  };
}

const pictures = (change: Partial<ServedSpace> = {}) =>
  space('visual_picture', { asksWith: { picture: {} }, ...change });
const encoder = (spaces: readonly ServedSpace[], missing: Encoder['missing'] = []) =>
  ({
    spaces,
    missing,
    fusion: { depth: 100, unknown_language_share: 0.1, raw_words: settings, raw_picture: settings },
    admitQuery: () => undefined,
  }) as unknown as Encoder;
const spacesOf = (served: ReturnType<typeof servedLists>) =>
  Object.fromEntries([...served].map(([name, { space }]) => [name, space]));

t.test('an index is searched with its own models, and says which of them are lost', async (t) => {
  const current = encoder([space('text_semantic'), pictures(), space('visual_words')]);
  const joint = encoder([pictures({ asksWith: { picture: {}, text: {} }, model: 'joint' })]);
  const open = async ({ name }: { name: string }) => (name === 'visual_picture' ? joint : undefined);
  const models = new IndexModels({ current, open, log: () => undefined });
  const all = () => true;
  const encoderOf = async (spaces: readonly SpaceSpec[], space: (name: string) => boolean = all) =>
    models.search(
      { tenant: 'ws_a', spaces },
      { content: { segments: 1, pictures: false }, space },
      async (encoder) => encoder,
    );
  t.equal(await encoderOf(current.spaces), current, 'those in use');
  const other = (name: string) => ({ name, dimensions: 8, modelSha256: 'cd'.repeat(32) });
  const previous = [other('visual_picture'), other('text_semantic')];
  await encoderOf(previous, () => false);
  t.equal(models.previousCount, 0, 'what is not asked is not opened');
  const early = await encoderOf(previous);
  t.match(early.lost, [{ isOpening: true }, { isOpening: true }], 'no search waits for a model');
  await new Promise(setImmediate);
  const searching = await encoderOf(previous);
  t.match(spacesOf(servedLists(searching)), {
    text_semantic: undefined,
    visual_words: 'visual_picture',
    visual_picture: 'visual_picture',
  });
  t.match(searching.lost, [{ space: 'text_semantic' }]);
  t.throws(() => planLists({ query: 'x', families: ['text_semantic'], k: 1 }, searching), {
    code: 'family_unavailable',
    detail: /is not installed any more/,
  });
  t.equal(models.previousCount, 1);
});
