import type { Random } from '../../../rig/random.ts';

/** A way to damage a copy of an index file's bytes. Its result is written. */
export type Damage = (bytes: Buffer<ArrayBuffer>, random: Random) => Buffer<ArrayBuffer>;

const PAGE = 4096;

function flipAt(bytes: Buffer, at: number, random: Random): void {
  bytes[at] = bytes[at]! ^ (1 << random.below(8));
}

function pageOf(bytes: Buffer, random: Random): number {
  return PAGE * random.below(Math.floor(bytes.length / PAGE));
}

/** Sets the layout version, the number after each block's magic, also of blocks that nothing refers to any more. */
function futureBlock(bytes: Buffer<ArrayBuffer>, random: Random): Buffer<ArrayBuffer> {
  const version = 100 + random.below(60_000);
  for (let at = bytes.indexOf('FTHB'); at !== -1; at = bytes.indexOf('FTHB', at + 4))
    bytes.writeUInt16LE(version, at + 4);
  return bytes;
}

/** Sets the version of the index wherever a page has it: four bytes after the record's key. */
function futureFormat(bytes: Buffer<ArrayBuffer>, random: Random): Buffer<ArrayBuffer> {
  const version = 100 + random.below(60_000);
  for (let at = bytes.indexOf('format'); at !== -1; at = bytes.indexOf('format', at + 1))
    bytes.writeUInt32LE(version, at + 'format'.length);
  return bytes;
}

export const DAMAGES: Readonly<Record<string, Damage>> = {
  'one bit': (bytes, random) => {
    flipAt(bytes, random.below(bytes.length), random);
    return bytes;
  },
  'some bits': (bytes, random) => {
    for (let flips = 2 + random.below(30); flips > 0; flips -= 1)
      flipAt(bytes, random.below(bytes.length), random);
    return bytes;
  },
  'the head of a page': (bytes, random) => {
    flipAt(bytes, pageOf(bytes, random) + random.below(64), random);
    return bytes;
  },
  'a random page': (bytes, random) => {
    const from = pageOf(bytes, random);
    for (let at = from; at < from + PAGE; at += 1) bytes[at] = random.below(256);
    return bytes;
  },
  'a page of zeros': (bytes, random) => {
    const from = pageOf(bytes, random);
    return bytes.fill(0, from, from + PAGE);
  },
  'a page in the place of another': (bytes, random) => {
    const from = pageOf(bytes, random);
    bytes.copy(bytes, pageOf(bytes, random), from, from + PAGE);
    return bytes;
  },
  'cut short': (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  empty: (bytes) => bytes.subarray(0, 0),
  'a future version of the file': (bytes, random) => {
    for (const page of [0, PAGE]) bytes.writeUInt32LE(2 + random.below(100), page + 20);
    return bytes;
  },
  'a future version of the index': futureFormat,
  'a future version of a block': futureBlock,
};
