import { native } from '../../src/native/index.ts';
import { quantile } from '../rig/agent.ts';
import { openModels, type TextModel } from './native-models.ts';

/** Texts of one call, all with as many tokens, and the least ratio that is claimed. */
interface Load {
  readonly name: string;
  readonly texts: number;
  readonly tokens: number;
  readonly pairs: number;
  readonly claim: number;
}

const LOADS: readonly Load[] = [
  ...(
    [
      [8, 2.2],
      [10, 2.2],
      [16, 1.8],
      [32, 1.5],
      [64, 1.5],
      [128, 1.5],
      [256, 1.5],
    ] as const
  ).map(([tokens, claim]) => ({ name: `${tokens} tokens`, texts: 1, tokens, pairs: 60, claim })),
  { name: '16 queries of 10 tokens, packed', texts: 16, tokens: 10, pairs: 30, claim: 1.4 },
  { name: '8 passages of 256 tokens, packed', texts: 8, tokens: 256, pairs: 8, claim: 1.7 },
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
 * The native encoder against ONNX Runtime, each on one thread, tokenising included: pairs of calls in turns, in processor
 * time, so that neither the machine's state nor its other work is on one side.
 */
export async function nativeAgainstRuntime() {
  const models = await openModels();
  const rows = [];
  for (const { name, texts: count, tokens, pairs, claim } of LOADS) {
    const texts = Array<string>(count).fill(textOf(tokens));
    const into = new Float32Array(count * models.native.dimensions);
    const [own, runtime]: [number[], number[]] = [[], []];
    for (let pair = 0; pair < pairs + 3; pair++) {
      const times = [
        await processorMs(models.runtime, texts, into),
        await processorMs(models.native, texts, into),
      ] as const;
      // The first ones warm up.
      if (pair < 3) continue;
      runtime.push(times[0]);
      own.push(times[1]);
    }
    const least = { native_ms: Math.min(...own), runtime_ms: Math.min(...runtime) };
    const median = { native_ms: quantile(own, 0.5), runtime_ms: quantile(runtime, 0.5) };
    rows.push({
      name,
      pairs,
      least,
      median,
      ratio_of_least: least.runtime_ms / least.native_ms,
      ratio: quantile(
        runtime.map((ms, pair) => ms / own[pair]!),
        0.5,
      ),
      claim,
    });
  }
  return { instructions: native.encoderKernelName(), rows };
}
