import t from 'tap';
import { agreeOnModels } from '../../../src/cluster/members/agreed-models.ts';
import { MemoryKv } from '../memory-kv.ts';

const space = (name: string, weights: string) => ({ name, weights, modelSha256: `of ${weights}` });
const OWN = [space('text_semantic', 'minilm on native'), space('visual_picture', 'mobilenet on cpu')];
const OTHER = [space('text_semantic', 'minilm on cpu'), OWN[1]!];

t.test('the first server decides on models and arithmetic, and one that differs says how', async (t) => {
  const kv = new MemoryKv();
  t.equal(await agreeOnModels(kv, 'one', OWN), undefined);
  t.equal(await agreeOnModels(kv, 'one', OWN), undefined, 'the same is no difference');
  t.equal(
    await agreeOnModels(kv, 'one', OTHER),
    'text_semantic is filled by minilm on native in the cluster, and by minilm on cpu here',
  );
  t.match(await agreeOnModels(kv, 'one', OWN.slice(0, 1)), /^visual_picture .* by nothing here$/);
  t.equal(await agreeOnModels(kv, 'two', OTHER), undefined, 'each cluster has its own');
});

t.test('of servers that start at once one decides', async (t) => {
  const kv = new MemoryKv();
  const found = await Promise.all([OWN, OTHER].map((spaces) => agreeOnModels(kv, 'one', spaces)));
  t.equal(found.filter((difference) => difference === undefined).length, 1);
});
