import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import {
  previousWeights,
  readChosenWeights,
  saveChosenWeights,
} from '../../../src/encode/models/chosen-weights.ts';
import { findInstalled } from '../../../src/encode/models/installed.ts';
import { readManifest } from '../../../src/encode/models/read-manifest.ts';
import type { Candidate, Towers } from '../../../src/encode/models/tower.ts';
import { Verification } from '../../../src/encode/models/verification.ts';
import { chooseCandidate, cosine, type Trial, tryTower } from '../../../src/encode/workers/choose.ts';
import { MODELS } from '../rig/embedded.ts';

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

/** Fake providers: milliseconds and vector of each, or the failure of its start. */
function fakes(trials: Partial<Record<Candidate['provider'], Trial | Error>>) {
  const opened: string[] = [];
  return {
    opened,
    open: async ({ provider, path }: Candidate, measured: boolean): Promise<Trial> => {
      opened.push(`${provider} ${path}${measured ? '' : ' probed'}`);
      const trial = trials[provider];
      if (!trial || trial instanceof Error) throw trial ?? new Error('absent');
      return trial;
    },
  };
}

const all = [candidate('cuda', 'fp16'), candidate('webgpu', 'fp16'), candidate('cpu', 'int8')];

t.test('the fastest provider with the right numbers serves', async (t) => {
  const { open } = fakes({
    cuda: { warmupMs: 1, vector: RIGHT },
    webgpu: { warmupMs: 2, vector: RIGHT },
    cpu: { warmupMs: 5, vector: RIGHT },
  });
  t.match(await chooseCandidate(all, open), { candidate: { provider: 'cuda' }, rejected: [] });
});

t.test('a GPU that is slower than the processor does not serve, and its figures are reported', async (t) => {
  const { open } = fakes({
    cuda: { warmupMs: 19, rowMs: 1, vector: RIGHT },
    cpu: { warmupMs: 5, rowMs: 60, vector: RIGHT },
  });
  t.match(await chooseCandidate(all, open), {
    candidate: { provider: 'cpu' },
    rejected: [{ provider: 'webgpu', reason: 'absent' }],
    slower: [{ provider: 'cuda', reason: /fp16 on cuda: 19\.00 ms a query, 1\.00 ms a row.*int8 on cpu/ }],
  });
});

t.test('where queries take nearly the same time, the throughput of an ingest decides', async (t) => {
  const near = fakes({
    cuda: { warmupMs: 2.5, rowMs: 0.2, vector: RIGHT },
    cpu: { warmupMs: 1, rowMs: 60, vector: RIGHT },
  });
  t.match(await chooseCandidate(all, near.open), {
    candidate: { provider: 'cuda' },
    slower: [{ provider: 'cpu' }],
  });
});

t.test('the weights that filled the indexes stay, unless others are clearly faster', async (t) => {
  const choose = async (rowMs: number, previous: string, warmupMs = 2) => {
    const { open } = fakes({
      cuda: { warmupMs, rowMs, vector: RIGHT },
      cpu: { warmupMs: 2, rowMs: 10, vector: RIGHT },
    });
    return (await chooseCandidate(all, open, previous)).candidate?.provider;
  };
  t.equal(await choose(6, 'of int8'), 'cpu', 'not twice as fast');
  t.equal(await choose(5, 'of int8'), 'cuda', 'twice as fast');
  t.equal(await choose(19, 'of fp16'), 'cuda', 'not half as fast');
  t.equal(await choose(20, 'of fp16'), 'cpu', 'half as fast');
  t.equal(await choose(6, 'of others'), 'cuda', 'none of them filled anything');
  t.equal(await choose(1, 'of fp16', 9), 'cpu', 'queries wait far too long');
});

t.test(
  'a provider that gives other numbers than the processor with the same weights is rejected with the cosine',
  async (t) => {
    const { open, opened } = fakes({
      cuda: { warmupMs: 1, vector: WRONG },
      cpu: { warmupMs: 5, vector: RIGHT },
    });
    const { candidate: chosen, rejected } = await chooseCandidate(all, open);
    t.equal(chosen?.provider, 'cpu');
    t.match(rejected[0], { provider: 'cuda', reason: /cosine 0\.99000/ });
    t.ok(opened.includes('cpu fp16 probed'), 'the reference runs the same weights, and no whole batch');
  },
);

t.test('NaN is rejected', async (t) => {
  const { open } = fakes({
    cuda: { warmupMs: 1, vector: Float32Array.of(Number.NaN, 0) },
    cpu: { warmupMs: 5, vector: RIGHT },
  });
  t.match(await chooseCandidate(all, open), {
    candidate: { provider: 'cpu' },
    rejected: [{ reason: /NaN/ }, {}],
  });
});

t.test('a provider that fails to load is rejected with its reason, and the next is taken', async (t) => {
  const { open } = fakes({
    cuda: new Error('libcuda.so.1: cannot open'),
    webgpu: { warmupMs: 2, vector: RIGHT },
    cpu: { warmupMs: 5, vector: RIGHT },
  });
  t.match(await chooseCandidate(all, open), {
    candidate: { provider: 'webgpu' },
    rejected: [{ provider: 'cuda', reason: /libcuda/ }],
  });
});

t.test('with the processor alone nothing is tried', async (t) => {
  const { open, opened } = fakes({});
  t.match(await chooseCandidate([candidate('cpu')], open), { candidate: { provider: 'cpu' } });
  t.strictSame(opened, []);
});

t.test('where nothing serves, every reason is reported', async (t) => {
  const { open } = fakes({});
  const { candidate: chosen, rejected } = await chooseCandidate(all, open);
  t.equal(chosen, undefined);
  t.equal(rejected.length, 3);
});

t.test('both parts of the embedded models are measured by a query and by a run of an ingest', async (t) => {
  const verification = Verification.anew(MODELS, t.testdir());
  const manifest = await readManifest(MODELS);
  const { towers } = await findInstalled(manifest, MODELS, verification, 'cpu');
  t.strictSame(towers.map(({ kind }) => kind).sort(), ['picture', 'text']);
  for (const tower of towers) {
    const trial = await tryTower(tower, tower.candidates[0]!, true);
    t.ok(trial.warmupMs > 0 && trial.rowMs! > 0);
    t.ok(Math.abs(cosine(trial.vector, trial.vector) - 1) < 1e-5);
  }
  t.equal((await tryTower(towers[0]!, towers[0]!.candidates[0]!, false)).rowMs, undefined);
});

t.test('the chosen weights are known at the next start, part by part', async (t) => {
  const folder = join(t.testdir(), 'cache');
  const tower = (kind: string, path: string) => ({ kind, model: 'a', candidates: [candidate('cpu', path)] });
  const towers = (text: string) => [tower('text', text), tower('picture', 'pictures')] as unknown as Towers;
  t.strictSame(await readChosenWeights(folder), {});
  await saveChosenWeights(folder, {}, towers('int8'));
  const chosen = await readChosenWeights(folder);
  t.strictSame(previousWeights(towers('any'), chosen), ['of int8', 'of pictures']);
  await saveChosenWeights(folder, chosen, towers('fp16'));
  t.strictSame(previousWeights(towers('any'), await readChosenWeights(folder)), ['of fp16', 'of pictures']);
  await writeFile(join(folder, 'chosen-weights.json'), '{"a');
  t.strictSame(await readChosenWeights(folder), {}, 'a damaged file counts as none');
});

t.test(
  'the native encoder and ONNX Runtime replace each other only where the other is clearly faster',
  async (t) => {
    const pair = [candidate('native', 'own'), candidate('cpu', 'runtime')];
    const serving = async (own: [number, number], runtime: [number, number], previous?: string) => {
      const trial = ([warmupMs, rowMs]: [number, number]): Trial => ({ warmupMs, rowMs, vector: RIGHT });
      const { open } = fakes({ native: trial(own), cpu: trial(runtime) });
      const choice = await chooseCandidate(pair, open, previous);
      t.equal(choice.slower.length, 1, 'the other is reported');
      return choice.candidate?.provider;
    };
    t.equal(await serving([1, 10], [2, 20]), 'native', 'faster at both');
    t.equal(await serving([1, 10], [2, 12]), 'cpu', 'faster at queries alone');
    t.equal(await serving([1, 10], [1.2, 20]), 'cpu', 'faster at passages alone');
    t.equal(await serving([1, 10], [2, 20], 'of runtime'), 'native', 'what filled the indexes is replaced');
    t.equal(await serving([1, 10], [0.9, 9], 'of own'), 'native', 'what filled the indexes stays');
    t.equal(await serving([2, 20], [1, 10], 'of own'), 'cpu', 'and is replaced where it is slow');
  },
);

t.test('a native encoder with other numbers is rejected', async (t) => {
  const { open } = fakes({
    native: { warmupMs: 1, vector: Float32Array.of(0.9, Math.sqrt(1 - 0.81)) },
    cpu: { warmupMs: 5, vector: RIGHT },
  });
  t.match(await chooseCandidate([candidate('native'), candidate('cpu')], open), {
    candidate: { provider: 'cpu' },
    rejected: [{ provider: 'native', reason: /cosine 0\.90000/ }],
  });
});

t.test(
  'a GPU that the weights of the processor stayed before is not taken because the native encoder came',
  async (t) => {
    const { open } = fakes({
      cuda: { warmupMs: 2, rowMs: 8, vector: RIGHT },
      native: { warmupMs: 1, rowMs: 10, vector: RIGHT },
      cpu: { warmupMs: 2, rowMs: 20, vector: RIGHT },
    });
    const three = [candidate('cuda', 'fp32'), candidate('native', 'own'), candidate('cpu', 'int8')];
    t.match(await chooseCandidate(three, open, 'of int8'), { candidate: { provider: 'native' } });
  },
);
