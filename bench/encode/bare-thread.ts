import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import * as ort from 'onnxruntime-node';
import { native } from '../../src/native/index.ts';

/** MiniLM in ONNX Runtime with nothing around it: texts are tokenised first, and then only runs are timed. */

export interface BareWork {
  readonly texts: readonly string[];
  /** Texts of one run; each run is as wide as its longest. */
  readonly rows: number;
  /** Goes round until then; 0: each text once. */
  readonly milliseconds: number;
}

export interface BareResult {
  readonly texts: number;
  readonly tokens: number;
  readonly milliseconds: number;
  /** Processor time of this thread. */
  readonly processorMs: number;
  readonly runMs: readonly number[];
}

export interface BareSettings {
  readonly weights: string;
  readonly tokenizer: string;
  readonly sessionOptions: Readonly<Record<string, string>>;
  readonly niceness: number;
}

const { weights, tokenizer, sessionOptions, niceness } = workerData as BareSettings;
if (niceness > 0) setPriority(0, niceness);
const session = await ort.InferenceSession.create(weights, {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
  extra: sessionOptions,
});
const tokens = new native.TextTokenizer(tokenizer, { limit: 256, specialTokens: true, dropped: [] });

interface Run {
  readonly feeds: Record<string, ort.Tensor>;
  readonly texts: number;
  readonly tokens: number;
}

function prepared({ texts, rows }: BareWork): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < texts.length; start += rows) {
    const batch = tokens.encode(texts.slice(start, start + rows), '');
    const lengths = batch.lengths();
    const width = Math.max(...lengths);
    const ids = new BigInt64Array(lengths.length * width);
    const mask = new BigInt64Array(ids.length);
    batch.fill(Uint32Array.from(lengths.keys()), width, 0, ids, mask);
    const shape = [lengths.length, width];
    runs.push({
      feeds: {
        input_ids: new ort.Tensor('int64', ids, shape),
        attention_mask: new ort.Tensor('int64', mask, shape),
      },
      texts: lengths.length,
      tokens: lengths.reduce((sum, length) => sum + length, 0),
    });
  }
  return runs;
}

/** Linux counts each thread's nanoseconds on a processor. */
function processorMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

async function work(asked: BareWork): Promise<BareResult> {
  const runs = prepared(asked);
  await session.run(runs[0]!.feeds);
  const runMs: number[] = [];
  let [texts, count] = [0, 0];
  const started = performance.now();
  const processorBefore = processorMs();
  for (let index = 0; ; index++) {
    if (asked.milliseconds === 0 ? index === runs.length : performance.now() - started > asked.milliseconds)
      break;
    const run = runs[index % runs.length]!;
    const before = performance.now();
    await session.run(run.feeds);
    runMs.push(performance.now() - before);
    texts += run.texts;
    count += run.tokens;
  }
  const milliseconds = performance.now() - started;
  return { texts, tokens: count, milliseconds, processorMs: processorMs() - processorBefore, runMs };
}

parentPort!.on(
  'message',
  (asked: BareWork) => void work(asked).then((result) => parentPort!.postMessage(result)),
);
parentPort!.postMessage('ready');
