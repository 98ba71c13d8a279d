import { corrupt } from '../../reading/refusal.ts';
import type { Coder } from './seven-zip-coders.ts';

const CODERS_MAX = 4;
const NAME_UNITS_MAX = 4096;

/** Reads the numbers and lists of a 7z header (7zFormat.txt of the LZMA SDK), one after the other. @throws file_corrupt at its end */
export class SevenZipBytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    return this.#bytes[this.#at++] ?? ended();
  }

  /** A number of one to nine bytes: as many bits as the first begins with say how many follow, the lowest first. */
  number(): number {
    const first = this.byte();
    let value = 0;
    for (let index = 0; index < 8; index++) {
      const mask = 0x80 >> index;
      if ((first & mask) === 0) return value + (first & (mask - 1)) * 256 ** index;
      value += this.byte() * 256 ** index;
    }
    return value;
  }

  /** A number of things. */
  count(most: number): number {
    const count = this.number();
    if (count > most) throw corrupt('its list is too long');
    return count;
  }

  skip(bytes: number): void {
    if (!(this.#at + bytes <= this.#bytes.length)) ended();
    this.#at += bytes;
  }

  /** The next bytes, as a header of their own. */
  part(bytes: number): SevenZipBytes {
    const from = this.#at;
    this.skip(bytes);
    return new SevenZipBytes(this.#bytes.subarray(from, this.#at));
  }

  /** Bits, the highest of each byte first. */
  bits(count: number): boolean[] {
    const from = this.#at;
    this.skip(Math.ceil(count / 8));
    return Array.from(
      { length: count },
      (_, at) => ((this.#bytes[from + (at >> 3)]! >> (7 - (at & 7))) & 1) === 1,
    );
  }

  /** CRC-32 of each of some things, where it has one. */
  checks(count: number): (number | undefined)[] {
    return this.#defined(count).map((isDefined) => (isDefined ? this.#uint32() : undefined));
  }

  /** Names in UTF-16 that end with a zero. */
  names(count: number): string[] {
    if (this.byte() !== 0) throw corrupt('the names of its files lie elsewhere');
    return Array.from({ length: count }, () => {
      const from = this.#at;
      while (this.#uint16() !== 0)
        if (this.#at - from > 2 * NAME_UNITS_MAX) throw corrupt('a name is too long');
      return this.#bytes.toString('utf16le', from, this.#at - 2);
    });
  }

  attributes(count: number): (number | undefined)[] {
    const isDefined = this.#defined(count);
    if (this.byte() !== 0) throw corrupt('the attributes of its files lie elsewhere');
    return isDefined.map((is) => (is ? this.#uint32() : undefined));
  }

  /** How a folder is packed, in the order in which it is unpacked. */
  folder(): { coders: Coder[]; streams: number } {
    const count = this.count(CODERS_MAX);
    const coders: Coder[] = [];
    let [ins, outs] = [0, 0];
    for (let index = 0; index < count; index++) {
      const flags = this.byte();
      const method = this.#bytes.toString('hex', this.#at, this.#at + (flags & 0xf));
      this.skip(flags & 0xf);
      const isComplex = (flags & 0x10) !== 0;
      const [into, out] = isComplex ? [this.count(32), this.count(32)] : [1, 1];
      const length = (flags & 0x20) === 0 ? 0 : this.number();
      const from = this.#at;
      this.skip(length);
      coders.push({
        method: isComplex ? 'complex' : method,
        properties: this.#bytes.subarray(from, this.#at),
        stream: outs,
        bytes: 0,
      });
      ins += into;
      outs += out;
    }
    // The number of the stream that each coder is fed from.
    const bound = new Map<number, number>();
    for (let pair = 0; pair < outs - 1; pair++) bound.set(this.number(), this.number());
    const streams = ins - bound.size;
    if (streams < 1) throw corrupt('its files are packed in a circle');
    if (streams > 1) for (let index = 0; index < streams; index++) this.number();
    return { coders: inOrder(coders, bound), streams };
  }

  #defined(count: number): boolean[] {
    return this.byte() === 0 ? this.bits(count) : Array.from({ length: count }, () => true);
  }

  #uint16(): number {
    this.skip(2);
    return this.#bytes.readUInt16LE(this.#at - 2);
  }

  #uint32(): number {
    this.skip(4);
    return this.#bytes.readUInt32LE(this.#at - 4);
  }
}

/** Coders of one stream each, from the one that gets the packed bytes on. */
function inOrder(coders: readonly Coder[], bound: ReadonlyMap<number, number>): Coder[] {
  if (coders.some(({ method }) => method === 'complex')) return [...coders];
  const ordered: Coder[] = [];
  let next = coders.findIndex((_, at) => !bound.has(at));
  while (next >= 0 && ordered.length < coders.length) {
    ordered.push(coders[next]!);
    next = coders.findIndex((_, at) => bound.get(at) === coders.indexOf(ordered.at(-1)!));
  }
  if (ordered.length !== coders.length) throw corrupt('its files are packed in a circle');
  return ordered;
}

function ended(): never {
  throw corrupt('its list of files ends too soon');
}
