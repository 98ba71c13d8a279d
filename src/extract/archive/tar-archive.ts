import { constants, createGunzip, gunzipSync } from 'node:zlib';
import type { ExtractLimits, FileInfo } from '../../domain/document.ts';
import { errorCode, FarthingError } from '../../domain/error.ts';
import type { MemberSink } from '../process/program.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { looksLikeTar, readTar } from './tar.ts';
import { unpackEntry, type ZipEntry, zipEntries } from './zip-directory.ts';

export const ARCHIVE_TYPES = ['application/zip', 'application/x-tar', 'application/gzip'] as const;
export type ArchiveType = (typeof ARCHIVE_TYPES)[number];

const ZIP_STARTS = ['PK\x03\x04', 'PK\x05\x06'];
const GZIP_START = [0x1f, 0x8b];
/** Compressed bytes that show whether a tar archive is inside, and to how much they may unfold. */
const GZIP_PROBE_BYTES = 4096;
const GZIP_PROBE_UNPACKED_BYTES_MAX = 8 * 2 ** 20;
/** What headers, folders and the padding of small files may take beside the files. */
const TAR_HEADERS_BYTES_MAX = 16 * 2 ** 20;
const PIECE_BYTES = 256 * 1024;

/** What programs leave beside the files that were meant. */
const LEFT_BEHIND = /(^|\/)(__MACOSX\/|\.DS_Store$|\._[^/]*$|Thumbs\.db$|desktop\.ini$)/;

/** Which archive the bytes are; undefined for anything else. */
export function archiveType(bytes: Uint8Array): ArchiveType | undefined {
  if (ZIP_STARTS.includes(Buffer.from(bytes.subarray(0, 4)).toString('latin1'))) return 'application/zip';
  if (looksLikeTar(bytes)) return 'application/x-tar';
  if (GZIP_START.every((byte, at) => bytes[at] === byte) && looksLikeTar(unfolded(bytes)))
    return 'application/gzip';
  return undefined;
}

function unfolded(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes.subarray(0, GZIP_PROBE_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: GZIP_PROBE_UNPACKED_BYTES_MAX,
    });
  } catch {
    return new Uint8Array();
  }
}

/** Lists an archive and checks its limits. @throws file_corrupt, file_empty, file_encrypted, document_too_large. */
export async function openArchive(
  bytes: Uint8Array,
  mediaType: ArchiveType,
  limits: ExtractLimits,
): Promise<FileInfo> {
  const count = new Counted(limits);
  if (mediaType === 'application/zip') for (const entry of filesOf(bytes)) count.add(entry.bytes);
  else {
    for await (const piece of readTar(tarPieces(bytes, mediaType, limits)))
      if ('path' in piece && isWanted(piece)) count.add(piece.bytes);
  }
  if (count.bytes === 0)
    throw new FarthingError('file_empty', 'The archive holds no files, or empty ones alone.');
  return { kind: 'archive', mediaType, members: count.members, membersBytes: count.bytes };
}

/**
 * Gives each file in an archive to the sink, in order. One that is damaged or too large is given as refused; the others come all
 * the same. @throws as openArchive.
 */
export async function unpackArchive(
  bytes: Uint8Array,
  mediaType: ArchiveType,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  const count = new Counted(limits);
  if (mediaType === 'application/zip') {
    for (const entry of filesOf(bytes)) {
      count.add(entry.bytes);
      await sink.begin(entry.name);
      await unpackMember(bytes, entry, limits, sink);
    }
    return;
  }
  let isOpen = false;
  let refused = false;
  const end = async (): Promise<void> => {
    if (isOpen) await sink.end();
    isOpen = false;
  };
  for await (const piece of readTar(tarPieces(bytes, mediaType, limits))) {
    if (!('path' in piece)) {
      if (isOpen && !refused) await sink.piece(piece);
      continue;
    }
    await end();
    if (!isWanted(piece)) continue;
    count.add(piece.bytes);
    await sink.begin(piece.path);
    refused = piece.bytes > limits.bytesMax;
    if (refused) await sink.end(memberTooLarge(piece.bytes, limits));
    isOpen = !refused;
  }
  await end();
}

async function unpackMember(
  bytes: Uint8Array,
  entry: ZipEntry,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  try {
    if (entry.bytes > limits.bytesMax) throw memberTooLarge(entry.bytes, limits);
    const content = unpackEntry(bytes, entry);
    for (let at = 0; at < content.length; at += PIECE_BYTES)
      await sink.piece(content.subarray(at, at + PIECE_BYTES));
    await sink.end();
  } catch (error) {
    if (!(error instanceof FarthingError) || errorCode(error) === undefined) throw error;
    await sink.end(error);
  }
}

function filesOf(bytes: Uint8Array): ZipEntry[] {
  return zipEntries(bytes).filter(({ name, isFile }) => isWanted({ path: name, isFile }));
}

function isWanted({ path, isFile }: { path: string; isFile: boolean }): boolean {
  return isFile && !LEFT_BEHIND.test(path.replaceAll('\\', '/'));
}

/** Members and their bytes, as far as they were seen. */
class Counted {
  members = 0;
  bytes = 0;
  readonly #limits: ExtractLimits;

  constructor(limits: ExtractLimits) {
    this.#limits = limits;
  }

  /** @throws document_too_large. */
  add(bytes: number): void {
    const { archiveMembersMax, archiveBytesMax } = this.#limits;
    this.members++;
    this.bytes += bytes;
    if (this.members > archiveMembersMax)
      throw tooLarge(`Send archives of at most ${archiveMembersMax} files.`, {
        limit_members: archiveMembersMax,
      });
    if (this.bytes > archiveBytesMax) throw bomb(this.bytes, archiveBytesMax);
  }
}

async function* tarPieces(
  bytes: Uint8Array,
  mediaType: ArchiveType,
  { archiveBytesMax }: ExtractLimits,
): AsyncGenerator<Uint8Array> {
  if (mediaType === 'application/x-tar') {
    yield bytes;
    return;
  }
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  gunzip.end(bytes);
  let unpacked = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      unpacked += piece.length;
      // Headers and folders count here too: nothing unfolds for ever.
      if (unpacked > 2 * archiveBytesMax + TAR_HEADERS_BYTES_MAX) throw bomb(unpacked, archiveBytesMax);
      yield piece;
    }
  } catch (error) {
    if (error instanceof FarthingError) throw error;
    throw corrupt('it is no complete archive');
  } finally {
    gunzip.destroy();
  }
}

function bomb(bytes: number, limit: number): FarthingError {
  return tooLarge(`Send archives of at most ${limit} bytes once they are unpacked.`, {
    bytes,
    limit_bytes: limit,
  });
}

function memberTooLarge(bytes: number, { bytesMax }: ExtractLimits): FarthingError {
  return new FarthingError('file_too_large', `A file in an archive may have at most ${bytesMax} bytes.`, {
    facts: { bytes, limit_bytes: bytesMax },
  });
}
