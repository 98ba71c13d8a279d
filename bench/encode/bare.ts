import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { readManifest } from '../../src/encode/models/read-manifest.ts';
import type { BareResult, BareSettings, BareWork } from './bare-thread.ts';

const MODELS = resolve(import.meta.dirname, '../../models');

/** The embedded text model and nothing else, on so many threads. */
export interface Bare {
  run(work: BareWork): Promise<BareResult & { readonly perSecond: number; readonly tokensPerSecond: number }>;
  close(): Promise<void>;
}

/** Threads that run the embedded text model and nothing else, with the settings that the server runs it with. */
export class BareThreads implements Bare {
  readonly #threads: readonly Worker[];

  static async open(count: number, niceness: number): Promise<BareThreads> {
    const manifest = await readManifest(MODELS);
    const model = manifest.models.find(({ name }) => name === manifest.use.text_semantic)!;
    const variant = model.text!.variants.find(({ providers }) => providers.includes('cpu'))!;
    const settings: BareSettings = {
      weights: join(MODELS, model.files[variant.file]!.path),
      tokenizer: join(MODELS, model.files[model.text!.tokenizer]!.path),
      sessionOptions: variant.session_options ?? {},
      niceness,
    };
    const threads = Array.from(
      { length: count },
      () => new Worker(new URL('./bare-thread.ts', import.meta.url), { workerData: settings }),
    );
    await Promise.all(threads.map((thread) => once(thread, 'message')));
    return new BareThreads(threads);
  }

  private constructor(threads: readonly Worker[]) {
    this.#threads = threads;
  }

  /** All threads at once, each with its share of the texts, or with all of them where the time is given. */
  async run(
    work: BareWork,
  ): Promise<BareResult & { readonly perSecond: number; readonly tokensPerSecond: number }> {
    const parts = await Promise.all(
      this.#threads.map(async (thread, index) => {
        const share = work.texts.filter((_, text) => text % this.#threads.length === index);
        const answer = once(thread, 'message') as Promise<[BareResult]>;
        thread.postMessage({ ...work, texts: work.milliseconds > 0 ? work.texts : share });
        return (await answer)[0];
      }),
    );
    const milliseconds = Math.max(...parts.map((part) => part.milliseconds));
    const sum = (of: (part: BareResult) => number) => parts.reduce((total, part) => total + of(part), 0);
    const [texts, tokens] = [sum((part) => part.texts), sum((part) => part.tokens)];
    return {
      texts,
      tokens,
      milliseconds,
      processorMs: sum((part) => part.processorMs),
      runMs: parts.flatMap((part) => part.runMs),
      perSecond: (1000 * texts) / milliseconds,
      tokensPerSecond: (1000 * tokens) / milliseconds,
    };
  }

  async close(): Promise<void> {
    // None of them is inside a run: each has answered.
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}
