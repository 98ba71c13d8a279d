import t from 'tap';
import type { Candidate } from '../../../../src/engine/encode/models/tower.ts';
import { chooseCandidate } from '../../../../src/engine/encode/workers/choose.ts';

const candidate = (provider: Candidate['provider'], path = 'weights'): Candidate => ({
  provider,
  path,
  sha256: `of ${path}`,
  queryRows: 1,
  ingestRows: 1,
  runTokens: 256,
  paddingShare: 0.15,
});

const RIGHT = Float32Array.of(1, 0);
/** A vector with a cosine of .99 to the right one. */
const WRONG = Float32Array.of(0.99, Math.sqrt(1 - 0.99 ** 2));

/** Fake providers: the vector of each, or the failure of its start. */
function fakes(found: Partial<Record<Candidate['provider'], Float32Array | Error>>) {
  const opened: string[] = [];
  return {
    opened,
    open: async ({ provider, path }: Candidate): Promise<Float32Array> => {
      opened.push(`${provider} ${path}`);
      const vector = found[provider];
      if (!vector || vector instanceof Error) throw vector ?? new Error('absent');
      return vector;
    },
  };
}

const all = [candidate('cuda', 'fp16'), candidate('native', 'own'), candidate('cpu', 'int8')];

t.test('a GPU with the right numbers serves', async (t) => {
  const { open } = fakes({ cuda: RIGHT, cpu: RIGHT });
  t.match(await chooseCandidate(all, open), { candidates: [{ provider: 'cuda' }], rejected: [] });
});

t.test(
  'a GPU that gives other numbers than the processor with the same weights is rejected with the cosine',
  async (t) => {
    const { open, opened } = fakes({ cuda: WRONG, cpu: RIGHT });
    const { candidates, rejected } = await chooseCandidate(all, open);
    t.match(candidates, [{ provider: 'native' }, { provider: 'cpu' }]);
    t.match(rejected, [{ provider: 'cuda', reason: /cosine 0\.99000/ }]);
    t.same(opened, ['cuda fp16', 'cpu fp16'], 'the reference runs the same weights');
  },
);

t.test('a GPU that fails to open is rejected with its reason, and the next candidate is taken', async (t) => {
  const { open } = fakes({ cuda: new Error('libcuda.so.1: cannot open'), webgpu: RIGHT, cpu: RIGHT });
  const candidates = [candidate('cuda'), candidate('webgpu'), candidate('cpu')];
  t.match(await chooseCandidate(candidates, open), {
    candidates: [{ provider: 'webgpu' }],
    rejected: [{ provider: 'cuda', reason: /libcuda/ }],
  });
});

t.test('on the processor nothing is tried', async (t) => {
  const { open, opened } = fakes({});
  const own = [candidate('native'), candidate('cpu')];
  t.same(await chooseCandidate(own, open), { candidates: own, rejected: [] });
  t.same(opened, []);
});

t.test('where nothing serves, every reason is reported', async (t) => {
  const { open } = fakes({});
  const { candidates, rejected } = await chooseCandidate([candidate('cuda'), candidate('webgpu')], open);
  t.same(candidates, []);
  t.equal(rejected.length, 2);
});
