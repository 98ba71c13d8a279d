import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import unbzip2 from 'unbzip2-stream';
import xz from 'xz-decompress';

/** A way to compress one file, which may be a tar archive. */
export interface Compression {
  /** Its first bytes. */
  readonly start: readonly number[];
  /** The content in pieces. What it throws means damage. */
  readonly unpack: (bytes: Uint8Array) => AsyncIterable<Uint8Array>;
  /** The first bytes of the content, enough to tell a tar archive; none for a damaged file. */
  readonly first: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** The name of the content as the file notes it; empty without one. */
  readonly nameOf: (bytes: Uint8Array) => string;
}

const PIECE_BYTES = 256 * 1024;
const FIRST_BYTES = 512;

export const GZIP = compression(
  [0x1f, 0x8b],
  (bytes) => through(bytes, createGunzip({ chunkSize: PIECE_BYTES })),
  gzipName,
);

/** "BZh". */
export const BZIP2 = compression([0x42, 0x5a, 0x68], unbzipped);

/** The content of an XZ file; its dictionary has at most 64 MiB, as all presets do, or the memory limit ends it. */
export const XZ = compression([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], (bytes) =>
  Readable.fromWeb(
    new xz.XzReadableStream(
      Readable.toWeb(Readable.from(piecesOf(bytes))) as ReadableStream<Uint8Array>,
    ) as never,
  ),
);

export const ZSTD = compression([0x28, 0xb5, 0x2f, 0xfd], (bytes) =>
  through(bytes, createZstdDecompress({ chunkSize: PIECE_BYTES })),
);

function compression(
  start: readonly number[],
  unpack: Compression['unpack'],
  nameOf: (bytes: Uint8Array) => string = () => '',
): Compression {
  return {
    start,
    nameOf,
    unpack,
    first: async (bytes) => {
      const pieces: Uint8Array[] = [];
      let length = 0;
      try {
        for await (const piece of unpack(bytes)) {
          pieces.push(piece);
          length += piece.length;
          if (length >= FIRST_BYTES) break;
        }
      } catch {
        return new Uint8Array();
      }
      return Buffer.concat(pieces).subarray(0, FIRST_BYTES);
    },
  };
}

/** The decoder gives what it has while it takes a piece: its stream is of the oldest kind, which ends before its data is read. */
async function* unbzipped(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const decoder = unbzip2();
  const unpacked: Uint8Array[] = [];
  let failure: unknown;
  decoder.on('data', (piece: Uint8Array) => unpacked.push(piece));
  decoder.on('error', (error: unknown) => {
    failure = error;
  });
  for (const piece of piecesOf(bytes)) {
    decoder.write(piece);
    yield* unpacked.splice(0);
    if (failure !== undefined) throw failure;
  }
  decoder.end();
  yield* unpacked.splice(0);
  if (failure !== undefined) throw failure;
}

function through(bytes: Uint8Array, unpacker: NodeJS.ReadWriteStream & Readable): Readable {
  unpacker.end(bytes);
  return unpacker;
}

/** In pieces: a decoder that gets all at once unpacks all at once. */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield Buffer.from(bytes.subarray(at, at + PIECE_BYTES));
}

const GZIP_HEADER_BYTES = 10;
/** Names of files have at most 255 bytes on the usual file systems; a field before it may have more. Without a name it is `file`. */
const GZIP_NAME_AT_MAX = 4096;
const [GZIP_HAS_EXTRA, GZIP_HAS_NAME] = [4, 8];

/** The name that `gzip` notes, in Latin-1 (RFC 1952, 2.3). */
function gzipName(bytes: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = bytes;
  const header = Buffer.from(buffer, byteOffset, Math.min(byteLength, GZIP_NAME_AT_MAX));
  const flags = header[3]!;
  if ((flags & GZIP_HAS_NAME) === 0) return '';
  const at =
    GZIP_HEADER_BYTES + ((flags & GZIP_HAS_EXTRA) === 0 ? 0 : 2 + header.readUInt16LE(GZIP_HEADER_BYTES));
  const end = header.indexOf(0, at);
  return end < 0 ? '' : header.toString('latin1', at, end);
}
