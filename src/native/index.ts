import { createRequire } from 'node:module';
import { ERRORS, type ErrorCode, FarthingError } from '@farthing/protocol/error';
import type * as Addon from './addon/addon.d.ts';

/**
 * ONNX Runtime since 1.29 reports its use to its maker, and keeps an identifier of the device in the home folder, unless this is
 * set before its environment is made (microsoft/onnxruntime, pull requests 27379 and 29843). It is set here because the main thread
 * of every process loads this module first: a worker has a copy of the environment, which the library does not see.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';

/** The native addon; nothing else loads it. Loading throws when `make` has not built it for this machine. */
export const native = createRequire(import.meta.url)('./addon/addon.cjs') as typeof Addon;

/** The answer to a search, as the index gives it. */
export type SearchedHits = Addon.SearchedHits;

/** The words of models' tokenizers. */
export type Vocabulary = InstanceType<typeof native.Vocabulary>;

const NATIVE_ERROR = /^FARTHING:([a-z_]+):([\s\S]*)$/;

/** Turns a native error, `FARTHING:<code>:<detail>`, into a FarthingError. Other errors are returned as they are. */
export function fromNative(error: unknown): unknown {
  const match = error instanceof Error ? NATIVE_ERROR.exec(error.message) : null;
  if (!match || !Object.hasOwn(ERRORS, match[1]!)) return error;
  return new FarthingError(match[1] as ErrorCode, match[2]!, { cause: error });
}

/** Calls native code; its errors become FarthingErrors. */
export function crossing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromNative(error);
  }
}

/** As {@link crossing}, for a promise. */
export async function awaitCrossing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fromNative(error);
  }
}
