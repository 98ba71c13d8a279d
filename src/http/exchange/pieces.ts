import type { HttpResponse } from 'uWebSockets.js';

/**
 * Writes a body of a known length, piece by piece, as fast as the client reads it: one piece waits in memory. The status
 * and the headers must have been written. uWebSockets.js drops a client that reads nothing for ten seconds.
 * A piece is done with when the next is asked for.
 * @param mayGo resolves when a piece may be read and written
 * @returns true once everything is written; false when the client left or the pieces end too early.
 */
export async function writePieces(
  response: HttpResponse,
  { bytes, pieces }: { readonly bytes: number; readonly pieces: AsyncIterable<Uint8Array> },
  { gone, mayGo }: { readonly gone: AbortSignal; readonly mayGo: () => Promise<void> },
): Promise<boolean> {
  const writable = watchWritable(response, gone);
  await mayGo();
  for await (const piece of pieces) {
    let rest = piece;
    for (;;) {
      if (gone.aborted) return false;
      const start = response.getWriteOffset();
      const { taken, done } = tryEnd(response, rest, bytes);
      if (done) return true;
      if (taken) {
        await mayGo();
        break;
      }
      const offset = await writable();
      if (offset === undefined) return false;
      await mayGo();
      rest = rest.subarray(offset - start);
    }
  }
  return false;
}

/**
 * Writes a body of unknown length, piece by piece, each as soon as it comes, and as fast as the client reads them. The head must have
 * been written.
 * @returns true once everything is written, and the end is to be; false when the client left. @throws what the pieces throw
 */
export async function writeAsItComes(
  response: HttpResponse,
  pieces: AsyncIterable<Uint8Array>,
  gone: AbortSignal,
): Promise<boolean> {
  let wake = (): void => undefined;
  response.onWritable(() => {
    wake();
    return true;
  });
  gone.addEventListener('abort', () => wake(), { once: true });
  for await (const piece of pieces) {
    if (gone.aborted) return false;
    let hasRoom = true;
    const writable = new Promise<void>((resolve) => {
      wake = resolve;
    });
    response.cork(() => {
      hasRoom = response.write(piece);
    });
    if (!hasRoom) await writable;
  }
  return !gone.aborted;
}

function tryEnd(response: HttpResponse, piece: Uint8Array, bytes: number): { taken: boolean; done: boolean } {
  let result: [boolean, boolean] = [false, false];
  response.cork(() => {
    result = response.tryEnd(piece, bytes);
  });
  const [taken, done] = result;
  return { taken, done };
}

/**
 * The returned function resolves once the socket is writable, with the bytes of the body written so far; with undefined when
 * the client leaves. The handler is set once: one that is set while the previous one runs would be lost.
 */
function watchWritable(response: HttpResponse, gone: AbortSignal): () => Promise<number | undefined> {
  let wake = (_offset: number | undefined): void => undefined;
  response.onWritable((offset) => {
    wake(offset);
    return true;
  });
  gone.addEventListener('abort', () => wake(undefined), { once: true });
  return () =>
    new Promise((resolve) => {
      wake = resolve;
    });
}
