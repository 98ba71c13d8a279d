import type { ExtractLimits } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { FormatReader, MakeReader } from '../reading/format-reader.ts';
import { corrupt } from '../reading/refusal.ts';
import type { MemberSink } from '../reading/sink.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { BZIP2, type Compression, GZIP, XZ, ZSTD } from './compression.ts';
import { looksLikeTar, readTar, type TarEntry } from './tar.ts';
import { isWanted, memberRefusal, UnpackBudget, unpacksTooLarge } from './unpack-budget.ts';

/** For headers, folders and the padding of small files. */
const TAR_OVERHEAD_BYTES_MAX = 16 * 2 ** 20;

export const tar = entriesReader(
  ({ bytes }) => looksLikeTar(bytes),
  ({ bytes }) => readTar([bytes]),
);

export const gzip = compressedReader(GZIP);
export const bzip2 = compressedReader(BZIP2);
export const xz = compressedReader(XZ);
export const zstd = compressedReader(ZSTD);

/** A tar archive that is compressed, or any one file. */
function compressedReader(compression: Compression): MakeReader {
  const { start, first, nameOf } = compression;
  return entriesReader(
    async (file) => start.every((byte, at) => file.bytes[at] === byte) && (await file.find(first)).length > 0,
    async function* (file, limits) {
      if (looksLikeTar(await file.find(first)))
        yield* readTar(unpackedPieces(compression, file.bytes, limits));
      else yield* onlyFile(compression, file.bytes, nameOf(file.bytes) || 'file', limits);
    },
  );
}

/** An archive's entries in order, a file's entry followed by the pieces of its content. */
type Entries = AsyncIterable<TarEntry | Uint8Array>;

function entriesReader(
  sniff: FormatReader['sniff'],
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
async function* onlyFile(
  compression: Compression,
  bytes: Uint8Array,
  path: string,
  limits: ExtractLimits,
): AsyncGenerator<TarEntry | Uint8Array> {
  let unpacked = 0;
  for await (const piece of unpackedPieces(compression, bytes, limits)) unpacked += piece.length;
  yield { path, bytes: unpacked, isFile: true };
  yield* unpackedPieces(compression, bytes, limits);
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

async function* unpackedPieces(
  { unpack }: Compression,
  bytes: Uint8Array,
  { archiveBytesMax }: ExtractLimits,
): AsyncGenerator<Uint8Array> {
  let unpacked = 0;
  try {
    for await (const piece of unpack(bytes)) {
      unpacked += piece.length;
      // Members that are not wanted and headers count here: unpacking always comes to an end.
      if (unpacked > 2 * archiveBytesMax + TAR_OVERHEAD_BYTES_MAX)
        throw unpacksTooLarge(unpacked, archiveBytesMax);
      yield piece;
    }
  } catch (error) {
    if (error instanceof FarthingError) throw error;
    throw corrupt('it is no complete archive');
  }
}
