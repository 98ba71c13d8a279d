import { corrupt } from '../reading/refusal.ts';

export interface TarEntry {
  readonly path: string;
  readonly bytes: number;
  /** False for folders, links and devices. */
  readonly isFile: boolean;
}

const BLOCK_BYTES = 512;
/** Bytes of a record that describes the next entry: a pax header, or a long name of GNU. */
const DESCRIPTION_BYTES_MAX = 64 * 1024;
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;

const LONG_NAME = 'L';
const PAX = 'x';
const FILES = ['0', '\0', '7'];

/** Whether these are the first bytes of a tar archive: its header holds the sum of its own bytes. */
export function looksLikeTar(bytes: Uint8Array): boolean {
  return bytes.length >= BLOCK_BYTES && bytes[0] !== 0 && isSummed(bytes.subarray(0, BLOCK_BYTES));
}

/**
 * The entries of a tar archive (POSIX.1-2017 "pax", ustar, GNU names) in order, a file's entry followed by the pieces of its
 * content. @throws file_corrupt.
 */
export async function* readTar(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<TarEntry | Uint8Array> {
  const input = new Pieces(source);
  let described: { path?: string; bytes?: number } = {};
  for (;;) {
    const header = await input.take(BLOCK_BYTES);
    // Two empty blocks end the archive. Some programs leave them out.
    if (!header || header.every((byte) => byte === 0)) return;
    if (!isSummed(header)) throw corrupt('one of its headers is damaged');
    const type = String.fromCharCode(header[156]!);
    const bytes = numberAt(header, 124, 12);
    if (type === PAX || type === LONG_NAME) {
      if (bytes > DESCRIPTION_BYTES_MAX) throw corrupt('the name of one of its members is too long');
      const text = (await input.take(padded(bytes)))?.subarray(0, bytes);
      if (!text) throw cutOff();
      described = { ...described, ...(type === PAX ? paxFields(text) : { path: textOf(text) }) };
      continue;
    }
    const entry = {
      path: described.path ?? ustarPath(header),
      bytes: described.bytes ?? bytes,
      isFile: FILES.includes(type) && !(described.path ?? ustarPath(header)).endsWith('/'),
    };
    described = {};
    yield entry;
    let left = entry.bytes;
    for await (const piece of input.pieces(padded(entry.bytes))) {
      if (left > 0 && entry.isFile) yield piece.subarray(0, left);
      left -= piece.length;
    }
  }
}

/** Takes bytes in other lengths than they come in. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#source =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /** Undefined at the end. @throws file_corrupt for an end within these bytes. */
  async take(bytes: number): Promise<Uint8Array | undefined> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this.pieces(bytes, true)) {
      pieces.push(piece);
      length += piece.length;
    }
    if (length === 0 && bytes > 0) return undefined;
    if (length < bytes) throw cutOff();
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  /** The next bytes in the pieces in which they come. @throws file_corrupt for an end within them, unless `mayEnd`. */
  async *pieces(bytes: number, mayEnd = false): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done) {
          if (mayEnd) return;
          throw cutOff();
        }
        this.#rest = next.value;
        continue;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
}

function cutOff(): Error {
  return corrupt('it is no complete archive');
}

function padded(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The sum counts its field as spaces. Old programs summed signed bytes. */
function isSummed(header: Uint8Array): boolean {
  let unsigned = 0;
  let signed = 0;
  for (let at = 0; at < BLOCK_BYTES; at++) {
    const isSum = at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES;
    const byte = isSum ? 0x20 : header[at]!;
    unsigned += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  const stated = octal(textOf(header.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES)));
  return stated === unsigned || stated === signed;
}

/** Octal digits, or a binary number where the first bit is set (GNU). */
function numberAt(header: Uint8Array, at: number, length: number): number {
  const field = header.subarray(at, at + length);
  if ((field[0]! & 0x80) === 0) return checked(octal(textOf(field)));
  let value = field[0]! & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return checked(value);
}

function octal(text: string): number {
  const digits = text.trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : digits === '' ? 0 : Number.NaN;
}

function checked(bytes: number): number {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw corrupt('one of its headers is damaged');
  return bytes;
}

function ustarPath(header: Uint8Array): string {
  const name = textOf(header.subarray(0, 100));
  const isUstar = textOf(header.subarray(257, 262)) === 'ustar' && header[262] === 0;
  const prefix = isUstar ? textOf(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** "length key=value\n", the length counting all of the record. */
function paxFields(text: Uint8Array): { path?: string; bytes?: number } {
  const fields: { path?: string; bytes?: number } = {};
  for (let at = 0; at < text.length; ) {
    const length = Number.parseInt(textOf(text.subarray(at, at + 20)), 10);
    if (!(length > 3) || at + length > text.length) break;
    const [, key, value] = /^\d+ ([^=]+)=([\s\S]*)\n$/.exec(textOf(text.subarray(at, at + length))) ?? [];
    if (key === 'path' && value) fields.path = value;
    if (key === 'size') fields.bytes = checked(Number(value));
    at += length;
  }
  return fields;
}

function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}
