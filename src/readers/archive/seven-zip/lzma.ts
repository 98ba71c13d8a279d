import { corrupt } from '../../reading/refusal.ts';

/**
 * LZMA and LZMA2 (Igor Pavlov, "LZMA specification", 2015, and the XZ file format, 5.3.1), which 7z archives are packed with. All that
 * is unpacked lies in one piece, and is the dictionary.
 */

const STATES = 12;
const POSITION_STATES_MAX = 16;
const MATCH_LENGTH_MIN = 2;
const END_MARK = 0xffffffff;
const PROBABILITY_HALF = 1024;
const RANGE_MIN = 0x1000000;

const LENGTH_PROBABILITIES = 2 + 2 * POSITION_STATES_MAX * 8 + 256;
/** Where the probabilities of each kind begin. */
const IS_MATCH = 0;
const IS_REPEATED = IS_MATCH + STATES * POSITION_STATES_MAX;
const IS_REPEATED_0 = IS_REPEATED + STATES;
const IS_REPEATED_1 = IS_REPEATED_0 + STATES;
const IS_REPEATED_2 = IS_REPEATED_1 + STATES;
const IS_REPEATED_0_LONG = IS_REPEATED_2 + STATES;
const SLOTS = IS_REPEATED_0_LONG + STATES * POSITION_STATES_MAX;
const DISTANCES = SLOTS + 4 * 64;
const ALIGNMENT = DISTANCES + 115;
const LENGTH = ALIGNMENT + 16;
const REPEATED_LENGTH = LENGTH + LENGTH_PROBABILITIES;
const LITERALS = REPEATED_LENGTH + LENGTH_PROBABILITIES;
const LITERAL_PROBABILITIES = 0x300;

/** @param properties five bytes: how literals are coded, and the size of the dictionary. @throws file_corrupt */
export function unpackLzma(packed: Uint8Array, properties: Uint8Array, length: number): Uint8Array {
  const decoder = new Decoder(packed, length);
  decoder.setProperties(properties[0] ?? 0xff);
  decoder.startRange(0);
  decoder.decode(length);
  return decoder.out;
}

/** @throws file_corrupt */
export function unpackLzma2(packed: Uint8Array, length: number): Uint8Array {
  const decoder = new Decoder(packed, length);
  let at = 0;
  const byte = (offset: number): number => packed[at + offset] ?? damaged();
  while (byte(0) !== 0) {
    const control = byte(0);
    if (control < 0x80) {
      if (control > 2) damaged();
      const count = byte(1) * 256 + byte(2) + 1;
      if (control === 1) decoder.startDictionary();
      decoder.copy(at + 3, count);
      at += 3 + count;
      continue;
    }
    const unpacked = (control & 0x1f) * 65_536 + byte(1) * 256 + byte(2) + 1;
    const count = byte(3) * 256 + byte(4) + 1;
    const reset = (control >> 5) & 3;
    const head = reset >= 2 ? 6 : 5;
    if (reset === 3) decoder.startDictionary();
    if (reset >= 2) decoder.setProperties(byte(5));
    else if (reset === 1) decoder.reset();
    decoder.startRange(at + head);
    decoder.decode(decoder.written + unpacked);
    at += head + count;
  }
  if (decoder.written !== length) damaged();
  return decoder.out;
}

class Decoder {
  readonly out: Uint8Array;
  written = 0;
  readonly #packed: Uint8Array;
  #at = 0;
  #range = 0;
  #code = 0;
  /** Where the dictionary begins in what is unpacked. */
  #start = 0;
  #probabilities = new Uint16Array();
  #literalContextBits = 0;
  #literalPositionMask = 0;
  #positionMask = 0;
  #state = 0;
  readonly #repeated = [0, 0, 0, 0] as [number, number, number, number];

  constructor(packed: Uint8Array, length: number) {
    this.#packed = packed;
    this.out = new Uint8Array(length);
  }

  setProperties(byte: number): void {
    if (byte >= 9 * 5 * 5) damaged();
    this.#literalContextBits = byte % 9;
    const rest = Math.floor(byte / 9);
    const literalPositionBits = rest % 5;
    this.#literalPositionMask = (1 << literalPositionBits) - 1;
    this.#positionMask = (1 << Math.floor(rest / 5)) - 1;
    const literals = LITERAL_PROBABILITIES << (this.#literalContextBits + literalPositionBits);
    this.#probabilities = new Uint16Array(LITERALS + literals);
    this.reset();
  }

  reset(): void {
    this.#probabilities.fill(PROBABILITY_HALF);
    this.#state = 0;
    this.#repeated.fill(0);
  }

  startDictionary(): void {
    this.#start = this.written;
  }

  startRange(at: number): void {
    this.#at = at;
    this.#range = 0xffffffff;
    this.#code = 0;
    if (this.#next() !== 0) damaged();
    for (let count = 0; count < 4; count++) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  /** Takes bytes as they are. */
  copy(at: number, count: number): void {
    if (at + count > this.#packed.length || this.written + count > this.out.length) damaged();
    this.out.set(this.#packed.subarray(at, at + count), this.written);
    this.written += count;
  }

  /** Unpacks up to a length, or to the mark of the end. */
  decode(length: number): void {
    if (length > this.out.length || this.#probabilities.length === 0) damaged();
    const repeated = this.#repeated;
    while (this.written < length) {
      const position = (this.written - this.#start) & this.#positionMask;
      const state = this.#state;
      if (this.#bit(IS_MATCH + (state << 4) + position) === 0) {
        this.#literal();
        continue;
      }
      let count: number;
      if (this.#bit(IS_REPEATED + state) === 0) {
        repeated.copyWithin(1, 0, 3);
        count = this.#length(LENGTH, position);
        this.#state = state < 7 ? 7 : 10;
        repeated[0] = this.#distance(count);
        if (repeated[0] === END_MARK) break;
      } else {
        if (this.#bit(IS_REPEATED_0 + state) === 0) {
          if (this.#bit(IS_REPEATED_0_LONG + (state << 4) + position) === 0) {
            this.#state = state < 7 ? 9 : 11;
            this.#repeat(repeated[0], 1, length);
            continue;
          }
        } else {
          const which =
            this.#bit(IS_REPEATED_1 + state) === 0 ? 1 : this.#bit(IS_REPEATED_2 + state) === 0 ? 2 : 3;
          const distance = repeated[which]!;
          repeated.copyWithin(1, 0, which);
          repeated[0] = distance;
        }
        count = this.#length(REPEATED_LENGTH, position);
        this.#state = state < 7 ? 8 : 11;
      }
      this.#repeat(repeated[0], count + MATCH_LENGTH_MIN, length);
    }
    if (this.written !== length) damaged();
  }

  #literal(): void {
    const { out, written } = this;
    const position = written - this.#start;
    const before = position > 0 ? out[written - 1]! : 0;
    const context =
      ((position & this.#literalPositionMask) << this.#literalContextBits) +
      (before >> (8 - this.#literalContextBits));
    const base = LITERALS + LITERAL_PROBABILITIES * context;
    let symbol = 1;
    if (this.#state >= 7) {
      let matched = position > this.#repeated[0] ? out[written - this.#repeated[0] - 1]! : damaged();
      while (symbol < 0x100) {
        const expected = (matched >> 7) & 1;
        matched <<= 1;
        const bit = this.#bit(base + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | this.#bit(base + symbol);
    out[this.written++] = symbol;
    const state = this.#state;
    this.#state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  }

  #repeat(distance: number, count: number, length: number): void {
    const { out } = this;
    if (distance >= this.written - this.#start || this.written + count > length) damaged();
    let from = this.written - distance - 1;
    for (let left = count; left > 0; left--) out[this.written++] = out[from++]!;
  }

  #length(base: number, position: number): number {
    if (this.#bit(base) === 0) return this.#tree(base + 2 + (position << 3), 3);
    if (this.#bit(base + 1) === 0) return 8 + this.#tree(base + 2 + 128 + (position << 3), 3);
    return 16 + this.#tree(base + 2 + 256, 8);
  }

  #distance(length: number): number {
    const slot = this.#tree(SLOTS + Math.min(length, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return high + this.#reversed(DISTANCES + high - slot, bits);
    return high + this.#direct(bits - 4) * 16 + this.#reversed(ALIGNMENT, 4);
  }

  #tree(base: number, bits: number): number {
    let at = 1;
    for (let count = 0; count < bits; count++) at = (at << 1) | this.#bit(base + at);
    return at - (1 << bits);
  }

  #reversed(base: number, bits: number): number {
    let [at, value] = [1, 0];
    for (let count = 0; count < bits; count++) {
      const bit = this.#bit(base + at);
      at = (at << 1) | bit;
      value |= bit << count;
    }
    return value;
  }

  #bit(index: number): number {
    const probability = this.#probabilities[index]!;
    const bound = (this.#range >>> 11) * probability;
    let bit: number;
    if (this.#code < bound) {
      this.#range = bound;
      this.#probabilities[index] = probability + ((2048 - probability) >> 5);
      bit = 0;
    } else {
      this.#range -= bound;
      this.#code -= bound;
      this.#probabilities[index] = probability - (probability >> 5);
      bit = 1;
    }
    this.#normalise();
    return bit;
  }

  #direct(bits: number): number {
    let value = 0;
    for (let count = 0; count < bits; count++) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = value * 2 + bit;
      this.#normalise();
    }
    return value;
  }

  #normalise(): void {
    if (this.#range >= RANGE_MIN) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    return this.#packed[this.#at++] ?? damaged();
  }
}

function damaged(): never {
  throw corrupt('its packed data cannot be unpacked');
}
