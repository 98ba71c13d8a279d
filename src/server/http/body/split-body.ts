import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { OFF_THREAD_BYTES } from './body.ts';

/** For a body without its picture or file: it is parsed and validated on the event loop, before any payment. */
export const BODY_LIMITS = { bytes: 64 * 1024, values: 1024 };

/** A search, or a message to MCP, and apart from it what may be megabytes. */
export type SplitBody = Awaited<ReturnType<typeof native.splitBodyOffThread>>;

/** Takes a body apart, a large one away from the event loop. @throws body_too_large if the remaining JSON is */
export async function splitBody(body: Buffer, isToolCall: boolean): Promise<SplitBody> {
  const limits = { ...BODY_LIMITS, isToolCall };
  const split =
    body.byteLength > OFF_THREAD_BYTES
      ? await native.splitBodyOffThread(body, limits)
      : native.splitBodyNow(body, limits);
  if (split.tooLarge) throw bodyTooLarge();
  return split;
}

export function bodyTooLarge(): FarthingError {
  const { bytes, values } = BODY_LIMITS;
  return new FarthingError(
    'body_too_large',
    `Send at most ${bytes} bytes and ${values} values of JSON beside image_b64, text or content_b64.`,
    { facts: { limit_bytes: bytes } },
  );
}
