import type { NativeTextRunner } from '../../src/engine/encode/text/native-text-runner.ts';
import { openModels } from './models.ts';

export interface BareWork {
  readonly texts: readonly string[];
  /** Texts of one run. */
  readonly rows: number;
  readonly milliseconds: number;
}

/** The native encoder with nothing around it: so many runs at once as the server has workers, tokenising included. */
export class Bare {
  readonly #runner: NativeTextRunner;
  readonly #atOnce: number;

  static async open(atOnce: number): Promise<Bare> {
    const { native } = await openModels();
    return new Bare(native as NativeTextRunner, atOnce);
  }

  private constructor(runner: NativeTextRunner, atOnce: number) {
    this.#runner = runner;
    this.#atOnce = atOnce;
  }

  async run({ texts, rows, milliseconds }: BareWork) {
    const counted = { texts: 0, runMs: [] as number[] };
    const [started, processorBefore] = [performance.now(), this.#runner.processorMs()];
    let next = 0;
    const worker = async () => {
      const target = new Float32Array(rows * this.#runner.dimensions);
      while (performance.now() - started < milliseconds) {
        const from = next % texts.length;
        const batch = texts.slice(from, from + rows);
        next += batch.length;
        const before = performance.now();
        await this.#runner.encode(batch, 'query', target, 0, this.#runner.dimensions);
        counted.runMs.push(performance.now() - before);
        counted.texts += batch.length;
      }
    };
    await Promise.all(Array.from({ length: this.#atOnce }, worker));
    const took = performance.now() - started;
    return {
      ...counted,
      processorMs: this.#runner.processorMs() - processorBefore,
      perSecond: (1000 * counted.texts) / took,
    };
  }
}
