import { TextDecoder } from 'node:util';
import { corrupt } from '../reading/refusal.ts';

/** A value of a record: text, number, bytes. */
export type SqliteValue = string | number | bigint | Uint8Array | null;

export interface SqliteRow {
  readonly id: bigint;
  readonly values: readonly SqliteValue[];
  /** It has more columns than are read. */
  readonly isCut: boolean;
}

const START = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const [LEAF_TABLE, INNER_TABLE] = [0x0d, 0x05];
/** The depth of a tree of 2⁶⁴ rows is far less. */
const DEPTH_MAX = 20;
/** SQLite's own limit, unless it is compiled with another one. Bounds the memory for a row. */
const COLUMNS_MAX = 2_000;
const UTF16 = { 2: 'utf-16le', 3: 'utf-16be' } as const;

export function isSqlite(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, START.length)).toString('latin1') === START;
}

/** Reads the pages of a SQLite database (https://sqlite.org/fileformat2.html). Each page is read once: circles are damage. */
export class SqlitePages {
  readonly #bytes: Buffer;
  readonly #pageBytes: number;
  /** Bytes of a page without what extensions reserve. */
  readonly #usable: number;
  readonly #decoder: TextDecoder;
  readonly #seen = new Set<number>();

  /** @throws file_corrupt */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < HEADER_BYTES) throw damaged();
    const size = this.#bytes.readUInt16BE(16);
    this.#pageBytes = size === 1 ? 65_536 : size;
    this.#usable = this.#pageBytes - this.#bytes[20]!;
    if (this.#pageBytes < 512 || (this.#pageBytes & (this.#pageBytes - 1)) !== 0 || this.#usable < 480)
      throw damaged();
    const encoding = this.#bytes.readUInt32BE(56);
    this.#decoder = new TextDecoder(encoding === 2 || encoding === 3 ? UTF16[encoding] : 'utf-8');
  }

  /** The rows of the table whose tree begins at a page, from 1. @throws file_corrupt */
  *rows(page: number, depth = 0): Generator<SqliteRow> {
    const start = this.#page(page);
    if (depth > DEPTH_MAX || this.#seen.has(page)) throw damaged();
    this.#seen.add(page);
    const at = start + (page === 1 ? HEADER_BYTES : 0);
    const kind = this.#bytes[at]!;
    if (kind !== LEAF_TABLE && kind !== INNER_TABLE) throw damaged();
    const count = this.#bytes.readUInt16BE(at + 3);
    const cells = at + (kind === LEAF_TABLE ? 8 : 12);
    if (cells + 2 * count > start + this.#pageBytes) throw damaged();
    for (let cell = 0; cell < count; cell++) {
      const offset = this.#bytes.readUInt16BE(cells + 2 * cell);
      if (offset + 4 > this.#usable) throw damaged();
      if (kind === LEAF_TABLE) yield this.#row(start, offset);
      else yield* this.rows(this.#bytes.readUInt32BE(start + offset), depth + 1);
    }
    if (kind === INNER_TABLE) yield* this.rows(this.#bytes.readUInt32BE(at + 8), depth + 1);
  }

  #page(page: number): number {
    const start = (page - 1) * this.#pageBytes;
    if (page < 1 || start + this.#pageBytes > this.#bytes.length) throw damaged();
    return start;
  }

  #row(page: number, offset: number): SqliteRow {
    const [length, idAt] = this.#number(page + offset);
    const [id, payloadAt] = this.#number(idAt);
    const payload = this.#payload(page, payloadAt, Number(length));
    return { id, ...this.#values(payload) };
  }

  /** The content of a cell, with the pages that it overflows to. */
  #payload(page: number, at: number, length: number): Buffer {
    if (length > this.#bytes.length) throw damaged();
    const end = page + this.#usable;
    const inPageMax = this.#usable - 35;
    const inPageMin = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const rest = inPageMin + ((length - inPageMin) % (this.#usable - 4));
    const here = length <= inPageMax ? length : rest <= inPageMax ? rest : inPageMin;
    if (at + here > end) throw damaged();
    if (here === length) return this.#bytes.subarray(at, at + length);
    const pieces = [this.#bytes.subarray(at, at + here)];
    let left = length - here;
    for (let next = this.#bytes.readUInt32BE(at + here); left > 0; ) {
      const start = this.#page(next);
      if (this.#seen.has(next)) throw damaged();
      this.#seen.add(next);
      const taken = Math.min(left, this.#usable - 4);
      pieces.push(this.#bytes.subarray(start + 4, start + 4 + taken));
      left -= taken;
      next = this.#bytes.readUInt32BE(start);
    }
    return Buffer.concat(pieces);
  }

  #values(payload: Buffer): Pick<SqliteRow, 'values' | 'isCut'> {
    const [headLength, first] = numberOf(payload, 0);
    const values: SqliteValue[] = [];
    let at = Number(headLength);
    let typeAt = first;
    while (typeAt < Number(headLength) && values.length < COLUMNS_MAX) {
      const [type, next] = numberOf(payload, typeAt);
      typeAt = next;
      const length = lengthOf(Number(type));
      if (at + length > payload.length) throw damaged();
      values.push(this.#value(Number(type), payload.subarray(at, at + length)));
      at += length;
    }
    return { values, isCut: typeAt < Number(headLength) };
  }

  #value(type: number, bytes: Buffer): SqliteValue {
    if (type === 0) return null;
    if (type === 7) return bytes.readDoubleBE(0);
    if (type === 8 || type === 9) return type - 8;
    if (type === 6) return bytes.readBigInt64BE(0);
    if (type < 12) return bytes.readIntBE(0, bytes.length);
    return type % 2 === 0 ? bytes : this.#decoder.decode(bytes);
  }

  #number(at: number): [value: bigint, next: number] {
    return numberOf(this.#bytes, at);
  }
}

const LENGTHS = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

/** Bytes of a value by its serial type. */
function lengthOf(type: number): number {
  if (type >= 12) return (type - (type % 2 === 0 ? 12 : 13)) / 2;
  const length = LENGTHS[type];
  if (length === undefined) throw damaged();
  return length;
}

/** A number of one to nine bytes, seven bits in each but the ninth. */
function numberOf(bytes: Buffer, at: number): [value: bigint, next: number] {
  let value = 0n;
  for (let index = 0; index < 9; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) throw damaged();
    if (index === 8) return [BigInt.asIntN(64, (value << 8n) | BigInt(byte)), at + 9];
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return [value, at + index + 1];
  }
  throw damaged();
}

function damaged(): Error {
  return corrupt('the database is damaged');
}
