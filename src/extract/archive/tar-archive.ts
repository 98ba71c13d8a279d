import { constants, createGunzip, gunzipSync } from 'node:zlib';
import type { ExtractLimits } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt } from '../reading/refusal.ts';
import type { MemberSink } from '../reading/sink.ts';
import { looksLikeTar, readTar } from './tar.ts';
import { isWanted, memberRefusal, UnpackBudget, unpacksTooLarge } from './unpack-budget.ts';

const GZIP_START = [0x1f, 0x8b];
/** Compressed bytes that show whether a tar archive is inside, and the most that they may unpack to. */
const GZIP_PROBE_BYTES = 4096;
const GZIP_PROBE_UNPACKED_BYTES_MAX = 8 * 2 ** 20;
const PIECE_BYTES = 256 * 1024;
/** For headers, folders and the padding of small files. */
const TAR_OVERHEAD_BYTES_MAX = 16 * 2 ** 20;

export const tar = tarReader(looksLikeTar, (bytes) => [bytes]);

export const tarGzip = tarReader(
  (bytes) => GZIP_START.every((byte, at) => bytes[at] === byte) && looksLikeTar(firstUnpackedBytes(bytes)),
  unpackedPieces,
);

/** @param piecesOf the bytes of the tar archive, in pieces */
function tarReader(
  sniff: (bytes: Uint8Array) => boolean,
  piecesOf: (bytes: Uint8Array, limits: ExtractLimits) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): MakeReader {
  return (mediaType) => ({
    sniff: ({ bytes }) => sniff(bytes),
    open: async ({ bytes }, { limits }) => {
      const budget = new UnpackBudget(limits);
      for await (const piece of readTar(piecesOf(bytes, limits)))
        if ('path' in piece && isWanted(piece)) budget.add(piece.bytes);
      return { kind: 'archive', mediaType, ...budget.total() };
    },
    unpack: ({ bytes }, { limits }, sink) => unpack(piecesOf(bytes, limits), limits, sink),
  });
}

/** A member that is too large is refused alone. */
async function unpack(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  const budget = new UnpackBudget(limits);
  let isOpen = false;
  const end = async (): Promise<void> => {
    if (isOpen) await sink.end();
    isOpen = false;
  };
  for await (const piece of readTar(pieces)) {
    if (!('path' in piece)) {
      if (isOpen) await sink.piece(piece);
      continue;
    }
    await end();
    if (!isWanted(piece)) continue;
    budget.add(piece.bytes);
    await sink.begin(piece.path);
    const refusal = memberRefusal(piece.bytes, limits);
    if (refusal) await sink.end(refusal);
    isOpen = !refusal;
  }
  await end();
}

function firstUnpackedBytes(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes.subarray(0, GZIP_PROBE_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: GZIP_PROBE_UNPACKED_BYTES_MAX,
    });
  } catch {
    return new Uint8Array();
  }
}

async function* unpackedPieces(
  bytes: Uint8Array,
  { archiveBytesMax }: ExtractLimits,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  gunzip.end(bytes);
  let unpacked = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      unpacked += piece.length;
      // Members that are not wanted and headers count here: unpacking always comes to an end.
      if (unpacked > 2 * archiveBytesMax + TAR_OVERHEAD_BYTES_MAX)
        throw unpacksTooLarge(unpacked, archiveBytesMax);
      yield piece;
    }
  } catch (error) {
    if (error instanceof FarthingError) throw error;
    throw corrupt('it is no complete archive');
  } finally {
    gunzip.destroy();
  }
}
