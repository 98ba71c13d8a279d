import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import t from 'tap';
import { native } from '../../../src/native/index.ts';
import { FarthingError } from '../../../src/protocol/error.ts';
import { cosine, MODELS, openEmbedded } from './rig/embedded.ts';

/** With ONNX Runtime, whose vectors are compared with those of a session by itself. */
const encoder = await openEmbedded({ provider: 'cpu' });
t.teardown(() => encoder.close());
const tenant = 'ws_test';

const textOf = async (text: string) => (await encoder.encodeQuery('text', text, { tenant })).text_semantic!;

/** Runs MiniLM by itself: one text, no batch, no worker. */
async function bare(text: string): Promise<Float32Array> {
  const session = await ort.InferenceSession.create(join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx'), {
    intraOpNumThreads: 1,
  });
  const tokenizer = new native.TextTokenizer(join(MODELS, 'all-MiniLM-L6-v2/tokenizer.json'), {
    limit: 256,
    specialTokens: true,
    dropped: [],
  });
  const batch = tokenizer.encode([text], '');
  const width = batch.lengths()[0]!;
  const [ids, mask] = [new BigInt64Array(width), new BigInt64Array(width)];
  batch.fill(Uint32Array.of(0), width, 0, ids, mask);
  const dims = [1, width];
  const feeds = {
    input_ids: new ort.Tensor('int64', ids, dims),
    attention_mask: new ort.Tensor('int64', mask, dims),
  };
  return (await session.run(feeds)).sentence_embedding!.data as Float32Array;
}

for (const [provider, least] of [
  ['cpu', 0.99999],
  // Its arithmetic is its own.
  ['native', 0.985],
] as const)
  t.test(`a query alone has the vector that ONNX Runtime gives by itself: ${provider}`, async (t) => {
    const one = await openEmbedded({ provider });
    t.teardown(() => one.close());
    const text = 'Microglia are activated by amyloid plaques.';
    const { text_semantic } = await one.encodeQuery('text', text, { tenant });
    t.ok(cosine(text_semantic!, await bare(text)) > least);
  });

t.test('a query has exactly the same vector, whatever other queries run', async (t) => {
  const texts = Array.from(
    { length: 32 },
    (_, index) => `the influence of treatment ${index} on the survival of mice`,
  );
  const together = await Promise.all(texts.map(textOf));
  for (const [index, text] of texts.entries()) {
    if (index % 8 === 0) t.strictSame(together[index], await textOf(text), text);
  }
});

t.test('a text over the limit is cut, not refused', async (t) => {
  t.equal((await textOf('moon '.repeat(50_000))).length, 384);
});

t.test('an empty text and one of strange characters have a direction', async (t) => {
  for (const text of ['', ' ', '\u0000\u{1F600}\uD800', '[SEP][CLS]'])
    t.ok(Math.abs(cosine(await textOf(text), await textOf(text)) - 1) < 1e-5);
});

t.test('many pictures come back in their order', async (t) => {
  const pictures = Array.from({ length: 10 }, (_, index) => new Uint8Array(224 * 224 * 3).fill(index * 25));
  const { visual_picture: all } = await encoder.encodeIngest('picture', pictures, { tenant });
  for (const index of [0, 4, 9]) {
    const { visual_picture: one } = await encoder.encodeQuery('picture', pictures[index]!, { tenant });
    t.ok(cosine(one!, all![index]!) > 0.9999);
  }
});

t.test('cancelled work is refused with its reason and never encoded', async (t) => {
  const before = encoder.counters().tokens;
  const long = Array.from({ length: 200 }, (_, index) => `passage ${index} `.repeat(60));
  const controller = new AbortController();
  const running = encoder.encodeIngest('text', long, { tenant, signal: controller.signal });
  const waiting = encoder.encodeIngest('text', long, { tenant, signal: controller.signal });
  controller.abort(new FarthingError('interrupted', 'gone'));
  await t.rejects(running, { code: 'interrupted' });
  await t.rejects(waiting, { code: 'interrupted' });
  await t.rejects(encoder.encodeQuery('text', 'x', { tenant, signal: controller.signal }), {
    code: 'interrupted',
  });
  await encoder.encodeIngest('text', ['the next one'], { tenant });
  t.equal(encoder.queueDepths().ingest, 0);
  t.ok(encoder.counters().tokens - before < 200 * 60, 'only what ran already was encoded');
});

t.test('closing answers waiting queries, gives up waiting work of ingests, and refuses more', async (t) => {
  const closing = await openEmbedded();
  const queries = Array.from({ length: 20 }, (_, index) =>
    closing.encodeQuery('text', `query ${index}`, { tenant }),
  );
  const ingests = Array.from({ length: 4 }, () =>
    closing.encodeIngest('text', Array(20).fill('some words'), { tenant }),
  );
  const settled = Promise.allSettled([...queries, ...ingests]);
  await closing.close();
  const states = (await settled).map(({ status }) => status);
  t.strictSame(new Set(states.slice(0, 20)), new Set(['fulfilled']));
  t.equal(states.at(-1), 'rejected');
  await t.rejects(closing.encodeQuery('text', 'late', { tenant }), { code: 'not_ready' });
});
