import { createHash, randomBytes } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beginning } from '@farthing/protocol/brief';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import { printable } from '@farthing/protocol/file/file-name';
import { readKey } from '@farthing/protocol/labels/item-key';
import { METADATA_JSON_MAX, readMetadata } from '@farthing/protocol/labels/metadata';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import type { StagedUpload } from '../../ingest/ports/ports.ts';
import { free } from '../body/gathered.ts';
import type { Incoming } from '../body/incoming.ts';
import type { Exchange } from './exchange.ts';
import { warningsFor } from './json.ts';

/** A received file, not yet an Item. */
export interface ReceivedUpload extends StagedUpload {
  readonly warnings: readonly string[];
}

export interface UploadLimits {
  readonly fileBytesMax: number;
}

const FILE_FIELD = 'file';
/** Fields beside the file, and for a raw body the header of each. */
const LABELS = { key: 'item-key', metadata: 'item-metadata' } as const;
type Label = keyof typeof LABELS;
type Labels = Readonly<Partial<Record<Label, string>>>;
const PARTS_MAX = 64;
const NAME_LENGTH_MAX = 255;
/** Multipart framing around the file: boundaries, part headers, small fields. */
const FRAMING_BYTES_MAX = 1024 * 1024;
/** One byte more than the longest label in UTF-8: a longer one is refused, not cut. */
const LABEL_BYTES_MAX = 4 * METADATA_JSON_MAX + 1;
/** Free space is checked again after this many bytes of a file. */
const CHECK_SPACE_BYTES = 4 * 1024 * 1024;

/** Where a file is written. */
interface Target {
  readonly path: string;
  readonly incoming: Incoming;
  readonly limits: UploadLimits;
  /** Counts bytes against the budget of incoming files. */
  readonly hold: (bytes: number) => void;
}

/**
 * Streams an upload to the staging folder, its digest computed on the way: the multipart field `file`, or a raw body.
 * Key and metadata come in further fields or in headers; a field wins. If it throws, nothing stays on the disk.
 * @throws file_too_large, request_malformed, field_invalid (no field `file`, or more than one; a label that is not valid), storage_full, overloaded
 */
export async function receiveUpload(
  exchange: Exchange,
  incoming: Incoming,
  limits: UploadLimits,
): Promise<ReceivedUpload> {
  const { body } = exchange;
  const length = Number(exchange.header('content-length') ?? 0);
  if (length > limits.fileBytesMax + FRAMING_BYTES_MAX) throw tooLarge(limits);
  const path = join(incoming.folder, randomBytes(16).toString('hex'));
  const target = { path, incoming, limits, hold: body.holdElsewhere(incoming.shares) };
  try {
    await incoming.checkSpace();
    const type = exchange.header('content-type') ?? '';
    const upload = /^multipart\/form-data\b/i.test(type)
      ? await receiveMultipart(exchange, type, target)
      : await receiveRaw(exchange, target);
    // The last bytes may have exceeded the budget.
    if (body.failure) throw body.failure;
    return upload;
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error === body.failure ? error : asRefusal(error);
  }
}

async function receiveRaw(exchange: Exchange, target: Target): Promise<ReceivedUpload> {
  const name = fileNameOf(exchange.header('content-disposition'));
  const labels = readLabels(exchange, labelHeaders(exchange));
  // Large pieces would burden the garbage collector.
  return {
    path: target.path,
    name,
    ...labels,
    warnings: [],
    ...(await writeFile(exchange.body.pieces(), target, free)),
  };
}

async function receiveMultipart(exchange: Exchange, type: string, target: Target): Promise<ReceivedUpload> {
  const { path, limits } = target;
  const parser = new Busboy({
    headers: { 'content-type': type },
    limits: {
      fileSize: limits.fileBytesMax + 1,
      parts: PARTS_MAX,
      fieldSize: LABEL_BYTES_MAX,
      headerPairs: 32,
      fieldNameSize: 256,
    },
  });
  const unknown: string[] = [];
  const labels: Record<string, string> = { ...labelHeaders(exchange) };
  let file:
    | { name: string; stream: Readable; written: Promise<{ bytes: number; sha256: string }> }
    | undefined;
  let surplus = false;
  let tooManyParts = false;
  parser.on('file', (field: string, stream: BusboyFileStream, name: string) => {
    if (field === FILE_FIELD && !file) {
      // Its reader throws it, and may begin later.
      stream.on('error', () => undefined);
      file = { name: cleanName(name), stream, written: writeFile(stream, target) };
      // The parser waits for the end of each part, and an abandoned part has none.
      file.written.catch((error: Error) => parser.destroy(error));
      return;
    }
    if (field === FILE_FIELD) surplus = true;
    else unknown.push(field);
    stream.resume();
  });
  parser.on('field', (field: string, value: string) => {
    if (Object.hasOwn(LABELS, field)) {
      labels[field] = value;
      return;
    }
    if (field === FILE_FIELD) surplus ||= file !== undefined;
    unknown.push(field);
  });
  parser.on('partsLimit', () => {
    tooManyParts = true;
  });
  // A write may fail after the parser has ended and its listeners are gone.
  parser.on('error', () => undefined);
  try {
    await pipeline(exchange.body.stream(), parser);
  } catch (error) {
    // Closed before its path is unlinked.
    file?.stream.destroy(error as Error);
    await file?.written.catch(() => undefined);
    throw error;
  }
  const written = await file?.written;
  if (tooManyParts) throw new FarthingError('request_malformed', `Send at most ${PARTS_MAX} parts.`);
  if (!file || !written) {
    throw new FarthingError(
      'field_invalid',
      `Send one file in the multipart field "${FILE_FIELD}", with a file name.`,
      {
        facts: { field: FILE_FIELD },
      },
    );
  }
  if (surplus) {
    throw new FarthingError('field_invalid', 'Send one file a request; send several as several requests.', {
      facts: { field: FILE_FIELD },
    });
  }
  const known = [FILE_FIELD, ...Object.keys(LABELS)];
  const warnings = warningsFor([...new Set(unknown)], known);
  return { path, name: file.name, ...readLabels(exchange, labels), warnings, ...written };
}

function labelHeaders(exchange: Exchange): Labels {
  const sent = Object.entries(LABELS).map(([label, header]) => [label, exchange.header(header)] as const);
  const { key, ...others } = Object.fromEntries(sent.filter(([, value]) => value !== undefined)) as Labels;
  return key === undefined ? others : { ...others, key: decoded(key) };
}

/** A header's key is percent-encoded, since headers are ASCII. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    throw new FarthingError('field_invalid', 'Item-Key: percent-encode it as UTF-8.', {
      facts: { field: 'key' },
    });
  }
}

/** @throws field_invalid */
function readLabels(
  exchange: Exchange,
  { key: sent, metadata: json }: Labels,
): Pick<StagedUpload, 'key' | 'metadata' | 'onlyIf'> {
  const metadata = json === undefined ? undefined : readMetadata(json);
  const key = sent === undefined ? undefined : readKey(sent);
  const onlyIf = expectedItem(exchange);
  if (onlyIf && key === undefined)
    throw new FarthingError('field_invalid', 'If-Match and If-None-Match need a key.', {
      facts: { field: 'key' },
    });
  return { ...(key !== undefined && { key }), ...(metadata && { metadata }), ...(onlyIf && { onlyIf }) };
}

/** `If-None-Match: *`: no Item may have the key; `If-Match: "ITEM_ID"`: this one must have it. @throws field_invalid */
function expectedItem(exchange: Exchange): StagedUpload['onlyIf'] {
  const [absent, present] = [exchange.header('if-none-match'), exchange.header('if-match')];
  if (absent !== undefined && absent.trim() !== '*')
    throw new FarthingError('field_invalid', 'If-None-Match: only * is known here.', {
      facts: { field: 'If-None-Match' },
    });
  if (absent !== undefined) return { item: null };
  const id = present === undefined ? undefined : /^\s*"?([\w-]{1,128})"?\s*$/.exec(present)?.[1];
  if (present !== undefined && id === undefined)
    throw new FarthingError('field_invalid', 'If-Match: send the id of the item in quotation marks.', {
      facts: { field: 'If-Match' },
    });
  return id === undefined ? undefined : { item: id };
}

/** @param written called with each piece once it is on the disk */
async function writeFile(
  pieces: AsyncIterable<Buffer>,
  { path, incoming, limits, hold }: Target,
  written: (piece: Buffer) => void = () => undefined,
): Promise<{ bytes: number; sha256: string }> {
  const digest = createHash('sha256');
  let bytes = 0;
  let checkedAt = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      if (bytes > limits.fileBytesMax) throw tooLarge(limits);
      hold(piece.byteLength);
      digest.update(piece);
      if (bytes - checkedAt >= CHECK_SPACE_BYTES) {
        checkedAt = bytes;
        await incoming.checkSpace();
      }
      await file.writeFile(piece);
      written(piece);
    }
  } finally {
    await file.close();
  }
  return { bytes, sha256: digest.digest('hex') };
}

function tooLarge(limits: UploadLimits): FarthingError {
  return new FarthingError('file_too_large', `Send a file of at most ${limits.fileBytesMax} bytes.`, {
    facts: { limit_bytes: limits.fileBytesMax },
  });
}

function asRefusal(error: unknown): unknown {
  if (errorCode(error)) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new FarthingError('storage_full', 'The disk of the server is full. Nothing was stored.', {
      cause: error,
    });
  }
  if (code?.startsWith('E') && (error as NodeJS.ErrnoException).syscall) return error;
  return new FarthingError(
    'request_malformed',
    `The multipart body cannot be read: ${(error as Error).message}.`,
    { cause: error },
  );
}

/** The last part of a path, without control characters: a name is shown, never used on the disk. */
function cleanName(name: string | undefined): string {
  const last = (name ?? '').split(/[\\/]/).at(-1)!;
  return beginning(printable(last), NAME_LENGTH_MAX) || 'upload';
}

function fileNameOf(disposition: string | undefined): string {
  const extended = /filename\*\s*=\s*UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (extended) {
    try {
      return cleanName(decodeURIComponent(extended));
    } catch {
      return 'upload';
    }
  }
  return cleanName(/filename\s*=\s*"?([^";]+)"?/i.exec(disposition ?? '')?.[1]);
}
