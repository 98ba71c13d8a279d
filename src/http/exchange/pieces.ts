import type { HttpResponse } from 'uWebSockets.js';

/**
 * Writes a body of a known length, piece by piece, as fast as the client takes it: one piece waits in memory. The status
 * and the headers must have been written. A client that takes nothing for ten seconds is dropped by uWebSockets.js.
 * @returns true once all is handed over; false when the client has gone or the pieces end too early.
 */
export async function writePieces(
  response: HttpResponse,
  { bytes, pieces }: { readonly bytes: number; readonly pieces: AsyncIterable<Uint8Array> },
  gone: AbortSignal,
): Promise<boolean> {
  const writable = watchWritable(response, gone);
  for await (const piece of pieces) {
    let rest = piece;
    for (;;) {
      if (gone.aborted) return false;
      const start = response.getWriteOffset();
      const { taken, done } = tryEnd(response, rest, bytes);
      if (done) return true;
      if (taken) break;
      const offset = await writable();
      if (offset === undefined) return false;
      rest = rest.subarray(offset - start);
    }
  }
  return false;
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
 * What it returns resolves when the socket takes more, with the bytes of the body that it has; undefined when the client
 * goes. The handler is set once: one that is set while the former is called would be lost.
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
