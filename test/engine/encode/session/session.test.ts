import { join } from 'node:path';
import t from 'tap';
import { readManifest } from '../../../../src/engine/encode/models/read-manifest.ts';
import type { Candidate } from '../../../../src/engine/encode/models/tower.ts';
import { KeptTensor } from '../../../../src/engine/encode/session/kept-tensor.ts';
import {
  type Feeds,
  openSession,
  type Session,
  sessionOptionsOf,
} from '../../../../src/engine/encode/session/session.ts';
import { TextRunner } from '../../../../src/engine/encode/text/text-runner.ts';
import { MODELS } from '../rig/embedded.ts';

const candidate: Candidate = {
  provider: 'cpu',
  path: join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx'),
  sha256: '',
  queryRows: 4,
  ingestRows: 1,
  runTokens: 64,
  paddingShare: 0.15,
};

t.test("the manifest's options of a provider and of the session go to its creation", async (t) => {
  const options = sessionOptionsOf({
    ...candidate,
    provider: 'cuda',
    providerOptions: { deviceId: 1 },
    sessionOptions: { 'session.use_device_allocator_for_initializers': '1' },
  });
  t.match(options, {
    intraOpNumThreads: 1,
    executionProviders: [{ name: 'cuda', deviceId: 1 }],
    extra: { 'session.use_device_allocator_for_initializers': '1' },
  });
  t.strictSame(sessionOptionsOf(candidate).executionProviders, ['cpu']);
  t.notOk('extra' in sessionOptionsOf(candidate));
});

t.test('tensors of one shape are made once, and all share memory that is allocated once', async (t) => {
  const kept = new KeptTensor('int64', 12);
  const [small, large] = [kept.of([2, 3]), kept.of([3, 4])];
  t.equal(kept.of([2, 3]), small);
  t.equal(KeptTensor.data<BigInt64Array>(small).buffer, KeptTensor.data<BigInt64Array>(large).buffer);
  t.strictSame([small.dims, small.size, large.size], [[2, 3], 6, 12]);
  t.not(
    KeptTensor.data<BigInt64Array>(kept.of([4, 4])).buffer,
    KeptTensor.data<BigInt64Array>(large).buffer,
    'a larger shape than was foreseen allocates once more',
  );
});

t.test('a run writes its output into memory that the session keeps', async (t) => {
  const session = await openSession(candidate);
  t.teardown(() => session.close());
  const [ids, mask] = [new KeptTensor('int64', 16), new KeptTensor('int64', 16)];
  const run = async (rows: number, width: number) => {
    const [a, b] = [ids.of([rows, width]), mask.of([rows, width])];
    KeptTensor.data<BigInt64Array>(a).fill(2000n);
    KeptTensor.data<BigInt64Array>(b).fill(1n);
    const found = await session.run({ input_ids: a, attention_mask: b }, { sentence_embedding: [rows, 384] });
    return found.sentence_embedding!;
  };
  const first = await run(2, 4);
  t.strictSame([...first.dims], [2, 384]);
  const before = first.data.slice();
  t.ok(before.some((value) => value !== 0));
  const second = await run(2, 4);
  t.equal(second.data.buffer, first.data.buffer, 'the same memory');
  t.strictSame(second.data, before);
  await run(1, 8);
  const third = await run(2, 4);
  t.strictSame(third.data, before, 'shapes in turn do not disturb each other');
  const [a, b] = [ids.of([1, 4]), mask.of([1, 4])];
  await t.rejects(
    session.run({ input_ids: a, attention_mask: b }, { sentence_embedding: [1, 100] }),
    'another shape than the model gives is refused',
  );
});

/** A fake session that gives ones, and keeps the shapes and values of its inputs. */
function fakeSession(): Session & { readonly seen: { shape: number[]; mask: number[] }[] } {
  const seen: { shape: number[]; mask: number[] }[] = [];
  return {
    seen,
    run: async (feeds: Feeds, outputs) => {
      const { attention_mask: mask } = feeds;
      seen.push({ shape: [...mask!.dims], mask: Array.from(mask!.data as BigInt64Array, Number) });
      const [dims] = Object.values(outputs);
      return { sentence_embedding: { data: new Float32Array(dims![0]! * dims![1]!).fill(1), dims: dims! } };
    },
    close: async () => {},
  };
}

t.test('with fixed shapes, runs are padded to a width and to a number of rows', async (t) => {
  const { text } = (await readManifest(MODELS)).models.find(({ name }) => name === 'all-MiniLM-L6-v2')!;
  const tower = {
    kind: 'text' as const,
    model: 'm',
    revision: '',
    settings: text!,
    tokenizerPath: join(MODELS, 'all-MiniLM-L6-v2/tokenizer.json'),
    candidates: [],
    searches: [],
  };
  const session = fakeSession();
  const fixed = { ...candidate, queryRows: 8, runTokens: 1024, widths: [8, 256], rowCounts: [1, 4, 8] };
  const runner = new TextRunner(tower, fixed, session);
  const target = new Float32Array(3 * 384);
  for (const texts of [['one two three'], ['a b', 'c d', 'e f'], ['one two three']])
    await runner.encode(texts, 'query', target, 0, 384);
  t.strictSame(
    session.seen.map(({ shape }) => shape),
    [
      [1, 8],
      [4, 8],
      [1, 8],
    ],
  );
  t.strictSame(session.seen[1]!.mask.slice(24), [1, 0, 0, 0, 0, 0, 0, 0], 'a padding row has one token');
  t.strictSame(session.seen[0]!.mask, [1, 1, 1, 1, 1, 0, 0, 0]);
});
