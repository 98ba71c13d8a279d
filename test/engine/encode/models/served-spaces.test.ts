import t from 'tap';
import {
  type ServedSpace,
  withLoss,
  withRejections,
} from '../../../../src/engine/encode/models/served-spaces.ts';

const space: ServedSpace = {
  name: 'text_semantic',
  dimensions: 8,
  modelSha256: 'ab'.repeat(32),
  model: 'm',
  revision: '1',
  provider: 'cuda',
  weights: 'm (weights on cuda)',
  notes: [],
  asksWith: { text: {} },
  lists: {},
};

t.test('a loss is noted once for each model, with the reason', async (t) => {
  const spaces = [space, { ...space, name: 'visual_picture' as const, model: 'other' }];
  const loss = { model: 'm', provider: 'cuda', reason: 'gone' };
  const after = withLoss(spaces, loss);
  t.match(after[0], { provider: 'cpu', notes: [/cuda was lost at run time.*gone/] });
  t.equal(after[1], spaces[1]);
  t.equal(withLoss(after, loss), after);
});

t.test('a provider that was rejected at the start is noted with the reason', async (t) => {
  const rejected = [
    { model: 'm', provider: 'cuda', reason: 'cosine 0.90000' },
    { model: 'm', provider: 'webgpu', reason: 'no adapter' },
    { model: 'other', provider: 'cuda', reason: 'never mind' },
  ];
  t.match(withRejections([{ ...space, provider: 'cpu' }], rejected), [
    { notes: ['cuda was rejected: cosine 0.90000', 'webgpu was rejected: no adapter'], provider: 'cpu' },
  ]);
});
