/** Half a second of silence as MP3 (MPEG 1 layer III, 128 kbit/s, 44.1 kHz), behind an ID3v2.3 tag with a picture. */
export function coveredMp3(picture: Buffer, title: string): Buffer {
  const text = frame('TIT2', Buffer.from(`\0${title}`, 'latin1'));
  const cover = frame('APIC', Buffer.concat([Buffer.from('\0image/jpeg\0\x03\0', 'latin1'), picture]));
  const bytes = text.length + cover.length;
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  const silence = Buffer.concat([Buffer.of(0xff, 0xfb, 0x90, 0xc0), Buffer.alloc(413)]);
  const tag = Buffer.from([...Buffer.from('ID3\x03\0\0', 'latin1'), ...size]);
  return Buffer.concat([tag, text, cover, ...Array.from({ length: 20 }, () => silence)]);
}

function frame(id: string, content: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.write(id, 'latin1');
  head.writeUInt32BE(content.length, 4);
  return Buffer.concat([head, content]);
}

const FLAC_SAMPLES = 4096;
const FLAC_FRAMES = 6;

/** Half a second of silence as FLAC (RFC 9639: one channel, 16 bits, 44.1 kHz), with a picture block. */
export function coveredFlac(picture: Buffer, side: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(FLAC_SAMPLES, 0);
  info.writeUInt16BE(FLAC_SAMPLES, 2);
  // 20 bits of rate, 3 of channels - 1, 5 of bits - 1, 36 of samples.
  const rate = (44_100n << 44n) | (15n << 36n) | BigInt(FLAC_SAMPLES * FLAC_FRAMES);
  info.writeBigUInt64BE(rate, 10);
  const frames = Array.from({ length: FLAC_FRAMES }, (_, number) => {
    const head = Buffer.of(0xff, 0xf8, 0xc9, 0x08, number);
    // One subframe of a constant: 0.
    const body = Buffer.concat([head, Buffer.of(crc(head, 8, 0x07)), Buffer.of(0, 0, 0)]);
    const sum = crc(body, 16, 0x8005);
    return Buffer.concat([body, Buffer.of(sum >> 8, sum & 0xff)]);
  });
  return Buffer.concat([
    Buffer.from('fLaC'),
    block(0, info, false),
    block(6, pictureBlock(picture, side), true),
    ...frames,
  ]);
}

/** Half a second of silence as Opus in Ogg (RFC 7845), with a picture in its comments. */
export function coveredOpus(picture: Buffer, side: number): Buffer {
  const head = Buffer.concat([
    Buffer.from('OpusHead\x01\x01', 'latin1'),
    Buffer.of(0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0),
  ]);
  const comment = Buffer.from(`METADATA_BLOCK_PICTURE=${pictureBlock(picture, side).toString('base64')}`);
  const tags = Buffer.concat([
    Buffer.from('OpusTags'),
    lengthLE(0),
    lengthLE(1),
    lengthLE(comment.length),
    comment,
  ]);
  // A packet of 20 ms without a coded frame is silence.
  const packets = Array.from({ length: 25 }, () => Buffer.of(0xf8, 0xff, 0xfe));
  return Buffer.concat([
    oggPage(2, 0n, 0, [head]),
    oggPage(0, 0n, 1, [tags]),
    oggPage(4, 24_000n, 2, packets),
  ]);
}

function block(type: number, content: Buffer, isLast: boolean): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(content.length);
  head[0] = type | (isLast ? 0x80 : 0);
  return Buffer.concat([head, content]);
}

function pictureBlock(picture: Buffer, side: number): Buffer {
  const name = Buffer.from('image/jpeg');
  const numbers = [side, side, 24, 0, picture.length].map(lengthBE);
  return Buffer.concat([lengthBE(3), lengthBE(name.length), name, lengthBE(0), ...numbers, picture]);
}

function lengthBE(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function lengthLE(value: number): Buffer {
  return lengthBE(value).reverse();
}

function oggPage(flags: number, granule: bigint, number: number, packets: readonly Buffer[]): Buffer {
  const segments = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ]);
  if (segments.length > 255) throw new RangeError('more than a page holds');
  const head = Buffer.alloc(27);
  head.write('OggS', 'latin1');
  head[5] = flags;
  head.writeBigInt64LE(granule, 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(number, 18);
  head[26] = segments.length;
  const page = Buffer.concat([head, Buffer.from(segments), ...packets]);
  page.writeUInt32LE(crc(page, 32, 0x04c11db7), 22);
  return page;
}

/** A checksum from the highest bit on, starting with 0. */
function crc(bytes: Uint8Array, bits: number, polynomial: number): number {
  const [top, mask] = [1n << BigInt(bits - 1), (1n << BigInt(bits)) - 1n];
  let sum = 0n;
  for (const byte of bytes) {
    sum ^= BigInt(byte) << BigInt(bits - 8);
    for (let bit = 0; bit < 8; bit++)
      sum = (sum & top) !== 0n ? ((sum << 1n) ^ BigInt(polynomial)) & mask : (sum << 1n) & mask;
  }
  return Number(sum);
}
