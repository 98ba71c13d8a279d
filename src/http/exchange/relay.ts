import type { HttpResponse } from 'uWebSockets.js';

/**
 * Writes a body of unknown length, piece by piece, each as soon as it comes, and as fast as the client reads them. The head must have
 * been written.
 * @returns true once everything is written; false when the client left. @throws what the pieces throw
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
  if (gone.aborted) return false;
  response.cork(() => void response.end());
  return true;
}
