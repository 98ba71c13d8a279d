import type { NativeTextRunner } from '../../src/engine/encode/text/native-text-runner.ts';
import { openModels } from './models.ts';

export interface BareWork {
  readonly texts: readonly string[];
  /** Texts of one run. */
  readonly rows: number;
  /** Goes round until then; 0: each text once. */
  readonly milliseconds: number;
}

/** The native encoder with nothing around it: so many runs at once as the server has workers, tokenising included. */
export class Bare {
  readonly #runner: NativeTextRunner;
  readonly #atOnce: number;
  readonly #use: 'query' | 'ingest';

  /** @param use passages are encoded at a lower priority */
  static async open(atOnce: number, use: 'query' | 'ingest'): Promise<Bare> {
    const { native } = await openModels();
    return new Bare(native as NativeTextRunner, atOnce, use);
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
    return {
      ...counted,
      milliseconds: took,
      processorMs: this.#runner.processorMs() - processorBefore,
      perSecond: (1000 * counted.texts) / took,
      tokensPerSecond: (1000 * counted.tokens) / took,
    };
  }
}
