import { randomUUID } from 'node:crypto';
import { native } from '@farthing/native';
import { type EncoderOptions, WorkerEncoder } from './encoder.ts';
import type { Towers } from './models/tower.ts';
import { NativeTextRunner } from './text/native-text-runner.ts';
import { Translation } from './text/translation.ts';
import type { SharedModels } from './workers/available-towers.ts';
import { EncoderThread } from './workers/encoder-thread.ts';
import { sharedMemory } from './workers/workers.ts';

export type { SharedModels } from './workers/available-towers.ts';

/** @returns undefined where another than the native encoder takes part in queries of words */
export function sharedModels(
  models: Omit<SharedModels, 'queue'>,
  isNative: (model: string) => boolean,
): SharedModels | undefined {
  const asked = models.towers.filter(({ kind, searches }) => kind === 'text' && searches.length > 0);
  return asked.length > 0 && asked.every(({ model }) => isNative(model))
    ? { ...models, queue: randomUUID() }
    : undefined;
}

/** Queries of words in another thread, and whether one may be in a language that needs the owner's models. */
export interface SharedEncoder {
  readonly encoder: WorkerEncoder;
  mayBeForeign(words: string): boolean;
}

export interface SharedEncoderOptions
  extends Pick<EncoderOptions, 'queryQueueMax' | 'queryWaitMsMax' | 'log' | 'onTask'> {
  /** Tasks that are handed to the native encoder at a time. */
  readonly atOnce: number;
}

/** Opens the models in this thread, which has the weights of the process. Queries of words alone are encoded here. */
export async function openSharedEncoder(
  shared: SharedModels,
  { atOnce, ...options }: SharedEncoderOptions,
): Promise<SharedEncoder> {
  const { manifest, towers, missing, tokenizers, translatesInto } = shared;
  const natives = await Promise.all(
    towers.map((tower) =>
      tower.kind === 'text' && tower.searches.length > 0
        ? NativeTextRunner.open(tower, tower.candidates[0]!)
        : undefined,
    ),
  );
  const texts: Towers = towers.filter(({ kind }) => kind === 'text');
  const threads = Array.from(
    { length: atOnce },
    () => new EncoderThread({ role: 'query', towers, ...sharedMemory(texts) }, { natives, isNative: true }),
  );
  const workers = { threads, reports: [], natives, labelsCached: true };
  const vocabulary = tokenizers.length > 0 ? new native.Vocabulary([...tokenizers]) : undefined;
  const encoder = new WorkerEncoder(
    manifest,
    towers,
    { towers, missing },
    workers,
    { ...options, modelsFolder: '', cacheFolder: '', ingestQueueMax: 0 },
    [],
    { shared, ...(vocabulary && { vocabulary }) },
  );
  const words = translatesInto && new Translation('', translatesInto, 0, new Float32Array());
  return { encoder, mayBeForeign: (text) => words?.mayBeForeign(text) ?? false };
}
