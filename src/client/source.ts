import { FarthingError } from './answers/error.ts';
import type { CallBody } from './calls.ts';

/** Upload input: a path (where there is a file system), bytes, or a stream. */
export type Source = string | Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export interface Upload {
  readonly blob: Blob;
  readonly name: string;
}

/** Streams are held in memory, because attempts may be repeated. */
const STREAM_BYTES_MAX = 256 * 2 ** 20;
/** A variable instead of a literal in the import, so that bundlers for browsers ignore it. */
const FILE_SYSTEM = 'node:fs';
const IS_FOLDER = 'it is a folder; ingestFolder and syncFolder take what is in it';
/** The part that is used; not every runtime has `openAsBlob`. */
interface FileSystem {
  readonly openAsBlob?: (path: string) => Promise<Blob>;
  readonly promises: {
    readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
    stat(path: string): Promise<{ isDirectory(): boolean }>;
  };
}

/** Opens a source so that it can be sent more than once. Files stay on the disk. @throws source_unreadable */
export async function openSource(source: Source, name?: string): Promise<Upload> {
  if (typeof source === 'string') return { blob: await openPath(source), name: name ?? lastPart(source) };
  if (source instanceof Blob)
    return { blob: source, name: name ?? ('name' in source ? String(source.name) : 'upload') };
  if (source instanceof Uint8Array) return { blob: new Blob([source.slice()]), name: name ?? 'upload' };
  return { blob: await collect(source), name: name ?? 'upload' };
}

async function openPath(path: string): Promise<Blob> {
  try {
    const { openAsBlob, promises } = (await import(FILE_SYSTEM)) as FileSystem;
    if ((await promises.stat(path)).isDirectory()) throw new Error(IS_FOLDER);
    if (openAsBlob) return await openAsBlob(path);
    return new Blob([await promises.readFile(path)]);
  } catch (cause) {
    throw new FarthingError('source_unreadable', `${path} cannot be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

async function collect(source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const piece of 'getReader' in source ? piecesOf(source) : source) {
    bytes += piece.byteLength;
    if (bytes > STREAM_BYTES_MAX)
      throw new FarthingError(
        'source_unreadable',
        `A stream may have ${STREAM_BYTES_MAX} bytes: send a file or a Blob.`,
      );
    pieces.push(piece.slice());
  }
  return new Blob(pieces);
}

/** Not every browser can iterate over a stream. */
export async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Does nothing at the end; before it, stops the source.
    await reader.cancel().catch(() => undefined);
  }
}

/** The same bytes as a stream that counts; false where requests cannot be streamed (browsers over HTTP/1.1). */
export function countedBody(blob: Blob, onBytes: ((sent: number) => void) | undefined): () => CallBody {
  if (!onBytes || 'document' in globalThis || blob.size === 0) return () => blob;
  return () => {
    let sent = 0;
    return blob.stream().pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          sent += piece.byteLength;
          onBytes(sent);
          controller.enqueue(piece);
        },
      }),
    ) as ReadableStream<Uint8Array>;
  };
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).at(-1) || 'upload';
}
