import { inflateRawSync } from 'node:zlib';
import { FarthingError } from '@farthing/protocol/error';
import { corrupt, encrypted, tooLarge } from '../../reading/refusal.ts';
import { unpackLzma, unpackLzma2 } from './lzma.ts';

/** A way in which bytes are packed. */
export interface Coder {
  /** Its number in hexadecimal digits (Methods.txt of the LZMA SDK); `complex` with several streams. */
  readonly method: string;
  readonly properties: Uint8Array;
  /** The number of the stream that comes out of it. */
  readonly stream: number;
  /** Bytes that come out of it. */
  bytes: number;
}

const LZMA = '030101';
const LZMA2 = '21';
const COPY = '00';
const DEFLATE = '040108';
const AES = '06f10701';
const DELTA = '03';
const X86 = '03030103';

/** @throws file_corrupt, file_encrypted, media_type_unsupported, document_too_large */
export function unpackCoder(
  { method, properties, bytes }: Coder,
  packed: Uint8Array,
  bytesMax: number,
): Uint8Array {
  if (bytes > bytesMax)
    throw tooLarge(`Unpack it: a part has ${bytes} bytes.`, { bytes, limit_bytes: bytesMax });
  switch (method) {
    case COPY:
      return packed.subarray(0, bytes);
    case LZMA:
      return unpackLzma(packed, properties, bytes);
    case LZMA2:
      return unpackLzma2(packed, bytes);
    case DEFLATE:
      return inflated(packed, bytes);
    case DELTA:
      return withoutDelta(packed, (properties[0] ?? 0) + 1);
    case X86:
      return withoutAddresses(packed);
    case AES:
      throw encrypted('file in the archive');
    default:
      throw new FarthingError(
        'media_type_unsupported',
        `The archive is packed by a method that cannot be read here (${method}). Send a zip of its files.`,
      );
  }
}

/** Each byte is the difference to the one at a distance before it. */
function withoutDelta(packed: Uint8Array, distance: number): Uint8Array {
  const unpacked = Uint8Array.from(packed);
  for (let at = distance; at < unpacked.length; at++) unpacked[at] = unpacked[at]! + unpacked[at - distance]!;
  return unpacked;
}

/** Of the three bytes before one, which may be the start of a call: whether that may be converted, and how many bytes it covers. */
const MAY_FOLLOW = [true, true, true, false, true, false, false, false];
const COVERED = [0, 1, 2, 2, 3, 3, 3, 3];

/** The targets of calls and jumps (0xE8, 0xE9) of x86, which are absolute while packed, as they were (Bra86.c of the LZMA SDK). */
function withoutAddresses(packed: Uint8Array): Uint8Array {
  const bytes = Buffer.from(packed);
  const isEnd = (byte: number | undefined): boolean => byte === 0 || byte === 0xff;
  let [before, mask] = [-1, 0];
  for (let at = 0; at + 4 < bytes.length; at++) {
    if ((bytes[at]! & 0xfe) !== 0xe8) continue;
    const distance = at - before;
    before = at;
    mask = distance > 3 ? 0 : (mask << (distance - 1)) & 7;
    if (mask !== 0 && (!MAY_FOLLOW[mask] || isEnd(bytes[at + 4 - COVERED[mask]!]))) {
      mask = (mask << 1) | 1;
      continue;
    }
    if (!isEnd(bytes[at + 4])) {
      mask = (mask << 1) | 1;
      continue;
    }
    let source = bytes.readUInt32LE(at + 1);
    let target: number;
    for (;;) {
      target = (source - (at + 5)) >>> 0;
      if (mask === 0) break;
      const shift = COVERED[mask]! * 8;
      if (!isEnd((target >>> (24 - shift)) & 0xff)) break;
      source = (target ^ (2 ** (32 - shift) - 1)) >>> 0;
    }
    target &= 0x01ffffff;
    bytes.writeInt32LE(target | -(target & 0x01000000) | 0, at + 1);
    at += 4;
  }
  return bytes;
}

function inflated(packed: Uint8Array, bytes: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) });
  } catch {
    throw corrupt('its packed data cannot be unpacked');
  }
}
