import type { NativeTextRunner } from '../../src/encode/text/native-text-runner.ts';
import { type Bare, BareThreads } from './bare.ts';
import type { BareResult, BareWork } from './bare-thread.ts';
import { openModels } from './native-models.ts';

/** The model by itself, as the server runs it. @param provider the server's, of texts */
export function openBare(provider: string | undefined, count: number, niceness: number): Promise<Bare> {
  return provider === 'native' ? BareNative.open(count, niceness) : BareThreads.open(count, niceness);
}

/** The native encoder with nothing around it: so many runs at once as the server has workers, tokenising included. */
class BareNative implements Bare {
  readonly #runner: NativeTextRunner;
  readonly #atOnce: number;
  readonly #use: 'query' | 'ingest';

  /** @param niceness above 0: on the threads for passages */
  static async open(atOnce: number, niceness: number): Promise<BareNative> {
    const { native } = await openModels();
    return new BareNative(native as NativeTextRunner, atOnce, niceness > 0 ? 'ingest' : 'query');
  }

  private constructor(runner: NativeTextRunner, atOnce: number, use: 'query' | 'ingest') {
    this.#runner = runner;
    this.#atOnce = atOnce;
    this.#use = use;
  }

  async run({ texts, rows, milliseconds }: BareWork) {
    const counted = { texts: 0, tokens: 0, runMs: [] as number[] };
    const [started, processorBefore] = [performance.now(), this.#runner.processorMs()];
    let next = 0;
    const isOver = () =>
      milliseconds > 0 ? performance.now() - started > milliseconds : next >= texts.length;
    const worker = async () => {
      const target = new Float32Array(rows * this.#runner.dimensions);
      while (!isOver()) {
        const from = next % texts.length;
        const batch = texts.slice(from, from + rows);
        next += batch.length;
        const before = performance.now();
        const { tokens } = await this.#runner.encode(batch, this.#use, target, 0, this.#runner.dimensions);
        counted.runMs.push(performance.now() - before);
        counted.texts += batch.length;
        counted.tokens += tokens;
      }
    };
    await Promise.all(Array.from({ length: this.#atOnce }, worker));
    const took = performance.now() - started;
    const result: BareResult = {
      ...counted,
      milliseconds: took,
      processorMs: this.#runner.processorMs() - processorBefore,
    };
    return {
      ...result,
      perSecond: (1000 * counted.texts) / took,
      tokensPerSecond: (1000 * counted.tokens) / took,
    };
  }

  async close(): Promise<void> {}
}
