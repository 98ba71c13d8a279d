import type { ExportLine, Item } from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';
import type { IngestManyOptions, IngestSummary, NamedSource } from './ingest-many.ts';
import { openSource, piecesOf, type Source } from './source.ts';

export interface ExportOptions {
  /** Whether the uploaded files are in it, as an import needs them; default true. */
  readonly content?: boolean;
  /** Whether the vectors of passages and pictures are in it; default false. An import leaves them out. */
  readonly vectors?: boolean;
  readonly signal?: AbortSignal;
}

export type ImportOptions = Pick<IngestManyOptions, 'signal' | 'onOutcome' | 'waitMs'>;

export interface ImportSummary extends Pick<IngestSummary, 'failed'> {
  readonly imported: number;
  /** They were there already. */
  readonly unchanged: number;
  /** Names of items without a file, as of uploads that had failed. */
  readonly withoutFile: readonly string[];
  /** The export has vectors, which an import leaves out: the server makes its own. */
  readonly vectorsLeftOut: boolean;
}

/** The format that is read. */
const FORMAT = 1;
const LINE_LENGTH_MAX = 64 * 2 ** 20;
/** Longer than the last line. */
const TAIL_BYTES = 1024;

/** The same pieces; the last line is checked. @throws source_unreadable where it is missing */
export async function* wholeExport(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let tail: Uint8Array = new Uint8Array();
  try {
    for await (const piece of pieces) {
      yield piece;
      const joined = new Uint8Array(tail.byteLength + piece.byteLength);
      joined.set(tail);
      joined.set(piece, tail.byteLength);
      tail = joined.slice(-TAIL_BYTES);
    }
  } catch (cause) {
    throw (cause as Error).name === 'AbortError' ? cause : cutShort(cause);
  }
  const last = new TextDecoder().decode(tail).split('\n').at(-2) ?? '';
  if (!last.startsWith('{"type":"end"')) throw cutShort();
}

/**
 * Uploads what an export holds, in its order and one at a time, so that the same index is made of it. Files in archives come with these.
 * @throws source_unreadable for what is no export, holds no files or is damaged; what came before is uploaded by then
 */
export async function importExport(
  upload: (sources: AsyncIterable<NamedSource>, options: IngestManyOptions) => Promise<IngestSummary>,
  source: Source,
  options: ImportOptions,
): Promise<ImportSummary> {
  const left: LeftOut = { withoutFile: [], vectors: false };
  const sources = sourcesOf(linesOf(await bytesOf(source)), left);
  const { ingested, duplicates, failed } = await upload(sources, { ...options, concurrency: 1 });
  const { withoutFile, vectors } = left;
  return { imported: ingested, unchanged: duplicates, failed, withoutFile, vectorsLeftOut: vectors };
}

/** Content of an export that is not uploaded. */
interface LeftOut {
  readonly withoutFile: string[];
  vectors: boolean;
}

async function bytesOf(source: Source): Promise<AsyncIterable<Uint8Array>> {
  if (typeof source === 'string' || source instanceof Blob || source instanceof Uint8Array)
    return piecesOf((await openSource(source)).blob.stream());
  return 'getReader' in source ? piecesOf(source) : source;
}

/** The uploads among the items, each once its file is complete. */
async function* sourcesOf(lines: AsyncIterable<ExportLine>, left: LeftOut): AsyncGenerator<NamedSource> {
  let open: { readonly item: Item; readonly pieces: Uint8Array<ArrayBuffer>[]; bytes: number } | undefined;
  let [hasBegun, isOver, items] = [false, false, 0];
  for await (const line of lines) {
    if (isOver || hasBegun === (line.type === 'workspace')) throw noExport();
    if (line.type === 'workspace') {
      if (line.format !== FORMAT) throw unreadable(`Exports of format ${line.format} cannot be read here.`);
      if (!line.content) throw unreadable('The export holds no files: export with content.');
      left.vectors = line.vectors ?? false;
      hasBegun = true;
    } else if (line.type === 'content') {
      if (line.item !== open?.item.id) throw noExport();
      const piece = bytesOfBase64(line.base64);
      open.bytes += piece.byteLength;
      if (open.bytes > open.item.bytes) throw notWhole(open.item);
      open.pieces.push(piece);
    } else if (line.type === 'item' || line.type === 'end') {
      if (open) yield* uploadsOf(open.item, new Blob(open.pieces), left);
      if (line.type === 'item') items += 1;
      else if (line.items !== items)
        throw unreadable(`The export is to hold ${line.items} items, and ${items} came: it is damaged.`);
      isOver = line.type === 'end';
      open =
        line.type === 'item' && line.item.parent_item_id === undefined
          ? { item: line.item, pieces: [], bytes: 0 }
          : undefined;
    }
  }
  if (!isOver) throw hasBegun ? cutShort() : noExport();
}

/** The file under its name; the same bytes again under each further name. */
function* uploadsOf(item: Item, file: Blob, { withoutFile }: LeftOut): Generator<NamedSource> {
  const { name, aliases = [], key, metadata, bytes } = item;
  if (file.size !== bytes) {
    if (file.size > 0) throw notWhole(item);
    withoutFile.push(name);
    return;
  }
  yield { source: file, name, key: name, itemKey: key, metadata };
  for (const alias of aliases) yield { source: file, name: alias, key: alias, metadata };
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ExportLine> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const [first, ...others] = decoder.decode(piece, { stream: true }).split('\n');
    parts.push(first!);
    length += first!.length;
    for (const other of others) {
      yield lineOf(parts.join(''));
      parts = [other];
      length = other.length;
    }
    if (length > LINE_LENGTH_MAX) throw noExport();
  }
  if (length > 0) throw cutShort();
}

function lineOf(text: string): ExportLine {
  try {
    const line = JSON.parse(text) as ExportLine | null;
    if (typeof line?.type === 'string') return line;
  } catch {
    // As below.
  }
  throw noExport();
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    throw noExport();
  }
}

function noExport(): FarthingError {
  return unreadable('This is no export of a workspace, or it is damaged.');
}

function notWhole({ id, bytes }: Item): FarthingError {
  return unreadable(`The file of ${id} is to have ${bytes} bytes, and has others: the export is damaged.`);
}

function cutShort(cause?: unknown): FarthingError {
  return unreadable('The export ends before its last line: it is incomplete.', cause);
}

function unreadable(message: string, cause?: unknown): FarthingError {
  return new FarthingError('source_unreadable', message, { cause });
}
