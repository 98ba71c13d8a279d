import * as ort from 'onnxruntime-node';
import t from 'tap';
import { readCtranslate2 } from '../../../src/encode/build/ctranslate2.ts';
import { buildWhisper } from '../../../src/encode/build/whisper.ts';
import { SMALL, smallWhisperFile, smallWhisperLogits } from '../rig/small-whisper.ts';

const MEL = Float32Array.from({ length: SMALL.mels * SMALL.frames }, (_, at) => Math.sin(at * 0.7) / 2);

function correlation(first: readonly number[], second: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [one, two] = [mean(first), mean(second)];
  const product = (a: readonly number[], b: readonly number[], ma: number, mb: number) =>
    a.reduce((sum, value, at) => sum + (value - ma) * (b[at]! - mb), 0);
  return (
    product(first, second, one, two) /
    Math.sqrt(product(first, first, one, one) * product(second, second, two, two))
  );
}

t.test('a built model answers as the definition does, token by token and several at once', async (t) => {
  const { encoder, decoder } = buildWhisper(smallWhisperFile());
  const heard = await (await ort.InferenceSession.create(encoder)).run({
    mel: new ort.Tensor('float32', MEL, [1, SMALL.mels, SMALL.frames]),
  });
  const session = await ort.InferenceSession.create(decoder);
  const width = SMALL.hidden / SMALL.heads;
  const none = () => new ort.Tensor('float32', new Float32Array(), [1, SMALL.heads, 0, width]);
  const after = async (...steps: number[][]): Promise<number[]> => {
    let past: Record<string, ort.Tensor> = {};
    for (let layer = 0; layer < SMALL.layers; layer++)
      past = { ...past, [`past_k_${layer}`]: none(), [`past_v_${layer}`]: none() };
    let logits: number[] = [];
    for (const ids of steps) {
      const tokens = new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
      const { logits: found, ...kept } = await session.run({ tokens, ...heard, ...past });
      past = Object.fromEntries(
        Object.entries(kept).map(([name, value]) => [name.replace('self_', 'past_'), value as ort.Tensor]),
      );
      logits = [...(found!.data as Float32Array)];
    }
    return logits;
  };
  for (const tokens of [[3], [3, 17], [3, 17, 5, 29, 11]]) {
    const expected = smallWhisperLogits(MEL, tokens);
    const atOnce = correlation(await after(tokens), expected);
    t.ok(atOnce > 0.995, `${tokens.length} at once: ${atOnce}`);
    const stepwise = correlation(await after(...tokens.map((token) => [token])), expected);
    t.ok(stepwise > 0.995, `${tokens.length} step by step: ${stepwise}`);
  }
  const other = correlation(await after([3]), smallWhisperLogits(MEL, [4]));
  t.ok(other < 0.99, `another token is another answer: ${other}`);
});

t.test('the same weights give the same bytes', async (t) => {
  const [first, second] = [buildWhisper(smallWhisperFile()), buildWhisper(smallWhisperFile())];
  t.ok(
    Buffer.from(first.encoder).equals(second.encoder) && Buffer.from(first.decoder).equals(second.decoder),
  );
});

t.test('damaged weights and those of another model are refused with a reason', async (t) => {
  const file = smallWhisperFile();
  t.throws(() => readCtranslate2(Buffer.concat([Uint8Array.of(9, 0, 0, 0), file.subarray(4)])), /version 9/);
  t.throws(() => readCtranslate2(file.subarray(0, file.length - 1_000)));
  const renamed = Buffer.from(
    Buffer.from(file).toString('latin1').replace('num_heads', 'num_hats_'),
    'latin1',
  );
  t.throws(() => buildWhisper(renamed), /no encoder\/num_heads/);
});
