import { constants, createGunzip, gunzipSync } from 'node:zlib';
import type { ExtractLimits } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt } from '../reading/refusal.ts';
import type { MemberSink } from '../reading/sink.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { looksLikeTar, readTar, type TarEntry } from './tar.ts';
import { isWanted, memberRefusal, UnpackBudget, unpacksTooLarge } from './unpack-budget.ts';

const GZIP_START = [0x1f, 0x8b];
const GZIP_HEADER_BYTES = 10;
const [GZIP_HAS_EXTRA, GZIP_HAS_NAME] = [4, 8];
/** Compressed bytes that show whether a tar archive is inside, and the most that they may unpack to. */
const GZIP_PROBE_BYTES = 4096;
const GZIP_PROBE_UNPACKED_BYTES_MAX = 8 * 2 ** 20;
const PIECE_BYTES = 256 * 1024;
/** For headers, folders and the padding of small files. */
const TAR_OVERHEAD_BYTES_MAX = 16 * 2 ** 20;

export const tar = entriesReader(
  ({ bytes }) => looksLikeTar(bytes),
  ({ bytes }) => readTar([bytes]),
);

/** A tar archive that is compressed, or any one file. */
export const gzip = entriesReader(
  (file) =>
    GZIP_START.every((byte, at) => file.bytes[at] === byte) && file.find(firstUnpackedBytes).length > 0,
  (file, limits) =>
    looksLikeTar(file.find(firstUnpackedBytes))
      ? readTar(unpackedPieces(file.bytes, limits))
      : onlyFile(file.bytes, limits),
);

/** An archive's entries in order, a file's entry followed by the pieces of its content. */
type Entries = AsyncIterable<TarEntry | Uint8Array>;

function entriesReader(
  sniff: (file: SourceFile) => boolean,
  entriesOf: (file: SourceFile, limits: ExtractLimits) => Entries,
): MakeReader {
  return (mediaType) => ({
    sniff,
    open: async (file, { limits }) => {
      const budget = new UnpackBudget(limits);
      for await (const piece of entriesOf(file, limits))
        if ('path' in piece && isWanted(piece)) budget.add(piece.bytes);
      return { kind: 'archive', mediaType, ...budget.total() };
    },
    unpack: (file, { limits }, sink) => unpack(entriesOf(file, limits), limits, sink),
  });
}

/** What is compressed by itself. Its length is counted: what the file says of it may be false. */
async function* onlyFile(bytes: Uint8Array, limits: ExtractLimits): AsyncGenerator<TarEntry | Uint8Array> {
  let unpacked = 0;
  for await (const piece of unpackedPieces(bytes, limits)) unpacked += piece.length;
  yield { path: gzipName(bytes) || 'file', bytes: unpacked, isFile: true };
  yield* unpackedPieces(bytes, limits);
}

/** The name that `gzip` notes, in Latin-1 (RFC 1952, 2.3); empty without one. */
function gzipName(bytes: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = bytes;
  const header = Buffer.from(buffer, byteOffset, Math.min(byteLength, GZIP_PROBE_BYTES));
  const flags = header[3]!;
  if ((flags & GZIP_HAS_NAME) === 0) return '';
  const at =
    GZIP_HEADER_BYTES + ((flags & GZIP_HAS_EXTRA) === 0 ? 0 : 2 + header.readUInt16LE(GZIP_HEADER_BYTES));
  const end = header.indexOf(0, at);
  return end < 0 ? '' : header.toString('latin1', at, end);
}

/** A member that is too large is refused alone. */
async function unpack(entries: Entries, limits: ExtractLimits, sink: MemberSink): Promise<void> {
  const budget = new UnpackBudget(limits);
  let isOpen = false;
  const end = async (): Promise<void> => {
    if (isOpen) await sink.end();
    isOpen = false;
  };
  for await (const piece of entries) {
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
