import { readFileSync } from 'node:fs';
import { crc32, deflateSync, gunzipSync } from 'node:zlib';

/** Files that are made to break the readers of packed, tabular and old formats. */

/** 1 GiB of zeros as LZMA packs it, in gzip twice: 151,539 bytes. */
const PACKED_GIBIBYTE = gunzipSync(
  gunzipSync(
    Buffer.from(
      'H4sIAPAzCGsC/5Pv5mD4YMyRzfT/7dmTXqIMDAwOzTmKvqpM1hmtU9MWlHKeMplwwYknKMrlIJMwlzPvVr6FuhpKjVFSlxZ2h6TMklwiGOLm1SLhySKWkinFoRjY4n8lTv5i6TN2NZUlJYYSOe+505a9ja8uu97p7L9OtSZ/fbSdubFk9c/aTw/e2Xpvqlp138QkRX17e/2anZ/fZsWEvLu+58XBU22dxY33ps3acPlvsih7l9oy7iJ5Xdm5d8XL9hv88Tn25crqVb/2SbtbV28+7n90yrn0q+7TlvBffa/LkVlTvqHa28n7568rx3wfp25/d0z0n4fEKtnM3OwVfjn/ROMtd6+rj4wuu/0o43v7so7Gszsb7c9al7fcq7MI/rVJx9o4Z4nlqsWvK85c3m778SJrZenlo5bH5/mHlz7z9Xvavm5G9d+V2Yl26dFHC3L+tX3ZeX7nysa1rtrBenyq02oq53wqfhAZlOjuEhVWWHV51tWDJ143fvpc2Rh6+OC1lp6Oam7xY8/y8/ytLt2P+P371NJ/k7O2Rq0NW311lBqh1Nf6K9LB/OJ2FYJ/ogU4frInaXUUfvZnYgAASKJIxZQDAAA=',
      'base64',
    ),
  ),
);
const GIBIBYTE = 2 ** 30;

/** A number as 7z writes any of 64 bits. */
function number(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xff);
  bytes.writeBigUInt64LE(BigInt(value), 1);
  return bytes;
}

/**
 * A 7z of one stream.
 * @param files how many its header says that there are; it names one
 */
function sevenZip({ claimed, files }: { readonly claimed: number; readonly files: number }): Buffer {
  const name = Buffer.from('zeros.txt\0', 'utf16le');
  const header = Buffer.concat([
    Buffer.from([0x01, 0x04, 0x06, 0, 1, 0x09]),
    number(PACKED_GIBIBYTE.length),
    Buffer.from([0, 0x07, 0x0b, 1, 0, 1, 0x23, 3, 1, 1, 5, 0x5d, 0, 0, 0x10, 0, 0x0c]),
    number(claimed),
    Buffer.from([0, 0, 0x05]),
    number(files),
    Buffer.from([0x11, name.length + 1, 0]),
    name,
    Buffer.from([0, 0]),
  ]);
  const next = Buffer.alloc(20);
  next.writeBigUInt64LE(BigInt(PACKED_GIBIBYTE.length), 0);
  next.writeBigUInt64LE(BigInt(header.length), 8);
  next.writeUInt32LE(crc32(header), 16);
  const start = Buffer.from([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c, 0, 4, 0, 0, 0, 0]);
  start.writeUInt32LE(crc32(next), 8);
  return Buffer.concat([start, next, PACKED_GIBIBYTE, header]);
}

/** Unfolds to 1 GiB. @param claimed what it says that it unfolds to */
export function sevenZipBomb(claimed = GIBIBYTE): Buffer {
  return sevenZip({ claimed, files: 1 });
}

/** Says that a million million files are in it. */
export function crowdedSevenZip(): Buffer {
  return sevenZip({ claimed: GIBIBYTE, files: 1e12 });
}

/** A database whose inner pages all lead to one of themselves. */
export function circularSqlite(): Buffer {
  const bytes = readFileSync('test/readers/reports/other/ledger.sqlite');
  const size = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16);
  const inner = 0x05;
  // A pointer to each cell of 2 bytes, and the cell: the page that it leads to, and a key.
  const cells = Math.floor((size - 12) / 10);
  for (let at = size; at + size <= bytes.length; at += size) {
    bytes.fill(0, at, at + size);
    bytes[at] = inner;
    bytes.writeUInt16BE(cells, at + 3);
    bytes.writeUInt32BE(2, at + 8);
    for (let cell = 0; cell < cells; cell++) {
      const place = size - 8 * (cell + 1);
      bytes.writeUInt16BE(place, at + 12 + 2 * cell);
      bytes.writeUInt32BE(2, at + place);
    }
  }
  return bytes;
}

/** A compound file whose chains of sectors go round for ever. */
export function circularSectors(file: Buffer): Buffer {
  const bytes = Buffer.from(file);
  const sector = 1 << bytes.readUInt16LE(30);
  const table = (bytes.readUInt32LE(76) + 1) * sector;
  for (let entry = 0; entry < sector / 4; entry++) {
    const next = bytes.readUInt32LE(table + 4 * entry);
    if (next < 0xfffffffa || next === 0xfffffffe) bytes.writeUInt32LE(entry, table + 4 * entry);
  }
  return bytes;
}

/** A Parquet file whose footer says that it is longer than the file, or of a billion rows. */
export function boastfulParquet(): Buffer {
  const bytes = readFileSync('test/readers/reports/other/depots.parquet');
  bytes.writeUInt32LE(0x7fffffff, bytes.length - 8);
  return bytes;
}

/** A HEIC of 60,000² pixels by its header, and a few by its data. */
export function heicFlood(): Buffer {
  const bytes = readFileSync('test/readers/picture/heic/caption.heic');
  for (let at = bytes.indexOf('ispe'); at >= 0; at = bytes.indexOf('ispe', at + 4)) {
    bytes.writeUInt32BE(60_000, at + 8);
    bytes.writeUInt32BE(60_000, at + 12);
  }
  return bytes;
}

/** A grey PNG of so many pixels square: each row is of one shade. */
export function largePng(side: number): Buffer {
  const rows = Buffer.alloc(side * (side + 1));
  for (let row = 0; row < side; row++) rows.fill(row % 256, row * (side + 1) + 1, (row + 1) * (side + 1));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 8;
  const chunk = (type: string, content: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const pixels = chunk('IDAT', deflateSync(rows, { level: 1 }));
  return Buffer.concat([signature, chunk('IHDR', head), pixels, chunk('IEND', Buffer.alloc(0))]);
}

/** A WAV of eight bits at 1 kHz. */
export function silence(seconds: number): Buffer {
  const [rate, head] = [1000, Buffer.alloc(44)];
  const bytes = seconds * rate;
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write('WAVEfmt ', 8);
  for (const [at, value] of [
    [16, 16],
    [24, rate],
    [28, rate],
    [40, bytes],
  ] as const)
    head.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    head.writeUInt16LE(value, at);
  head.write('data', 36);
  return Buffer.concat([head, Buffer.alloc(bytes, 0x80)]);
}

/** A PDF of so many pages that all show the same few words. */
export function longPdf(pages: number): Buffer {
  const content = 'BT /F 12 Tf 72 700 Td (Gulls, terns and the tide.) Tj ET';
  const page = (at: number) =>
    `${at} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents 4 0 R>>endobj\n`;
  const numbers = Array.from({ length: pages }, (_, index) => index + 5);
  return Buffer.from(
    `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n` +
      `2 0 obj<</Type/Pages/Count ${pages}/Kids[${numbers.map((at) => `${at} 0 R`).join(' ')}]>>endobj\n` +
      `3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n` +
      `4 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\n` +
      `${numbers.map(page).join('')}trailer<</Root 1 0 R>>\n%%EOF`,
  );
}
