import { median } from '../rig/figures.ts';
import { openModels, type TextModel } from './models.ts';

/** Tokens of a text, texts of one call, and pairs of calls. */
const LOADS = [
  ...[8, 10, 16, 32, 64, 128, 256].map((tokens) => ({
    name: `${tokens} tokens`,
    texts: 1,
    tokens,
    pairs: 60,
  })),
  { name: '16 queries of 10 tokens, packed', texts: 16, tokens: 10, pairs: 30 },
  { name: '8 passages of 256 tokens, packed', texts: 8, tokens: 256, pairs: 8 },
];

/** "cat" is one token, and the model adds two. */
const textOf = (tokens: number) => 'cat '.repeat(tokens - 2).trim();

/** Milliseconds of processor time of one call. */
async function processorMs(model: TextModel, texts: readonly string[], into: Float32Array): Promise<number> {
  const before = model.processorMs() ?? Number.NaN;
  await model.encode(texts, 'query', into, 0, model.dimensions);
  return (model.processorMs() ?? Number.NaN) - before;
}

/**
 * The native encoder beside ONNX Runtime, each on one thread, tokenising included: pairs of calls in turns, in processor
 * time, so that neither the machine's state nor its other work is on one side.
 */
export async function nativeAgainstRuntime() {
  const models = await openModels();
  const rows = [];
  for (const { name, texts: count, tokens, pairs } of LOADS) {
    const texts = Array<string>(count).fill(textOf(tokens));
    const into = new Float32Array(count * models.native.dimensions);
    const [own, runtime]: [number[], number[]] = [[], []];
    for (let pair = 0; pair < pairs + 3; pair++) {
      const runtimeMs = await processorMs(models.runtime, texts, into);
      const ownMs = await processorMs(models.native, texts, into);
      // The first ones warm up.
      if (pair < 3) continue;
      runtime.push(runtimeMs);
      own.push(ownMs);
    }
    rows.push({
      name,
      processor: { value: median(own), unit: 'ms', peer: 'ONNX Runtime', peer_value: median(runtime) },
      times_faster: median(runtime.map((ms, pair) => ms / own[pair]!)),
    });
  }
  return rows;
}
