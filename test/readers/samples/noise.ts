import type { Random } from '../../rig/random.ts';

/** Makes data that is no text, of at least 1 KiB. */
export type MakeNoise = (random: Random) => Buffer;

const LENGTHS = [1024, 3072] as const;

/** The kinds of data that a guess at text could fall for, most without low byte values. */
export const NOISE: Readonly<Record<string, MakeNoise>> = {
  random: (random) => filled(random, () => between(random, 0, 255)),
  'a range of values': (random) => {
    const low = between(random, 0x20, 0x60);
    const high = between(random, 0xa0, 0xff);
    return filled(random, () => between(random, low, high));
  },
  'few values and spaces, some rare': (random) => {
    const values = Array.from({ length: between(random, 2, 200) }, () => between(random, 0x20, 255));
    values[between(random, 0, Math.min(3, values.length - 1))] = 0x20;
    const exponent = 1 + random.next() * 4;
    return filled(random, () => values[Math.floor(random.next() ** exponent * values.length)]!);
  },
  'values around one': (random) => {
    const mean = between(random, 40, 220);
    const spread = 1 + random.next() * 40;
    return filled(random, () => clipped(mean + normal(random) * spread, 0x20));
  },
  'bits that are seldom set': (random) => {
    const share = random.next();
    return filled(random, () => {
      let byte = 0;
      for (let bit = 0; bit < 8; bit++) byte = byte * 2 + Number(random.next() < share);
      return byte;
    });
  },
  'runs of a value': (random) => {
    let [value, left] = [0, 0];
    return filled(random, () => {
      if (left-- <= 0) [value, left] = [between(random, 0x20, 255), between(random, 0, 40)];
      return value;
    });
  },
  'grey pixels': (random) => {
    let value = between(random, 0x20, 255);
    const step = 1 + random.next() * 12;
    return filled(random, () => {
      value = clipped(value + normal(random) * step, 0x20);
      return value;
    });
  },
  'a gradient': (random) => {
    const [from, to, width] = [
      between(random, 0x20, 255),
      between(random, 0x20, 255),
      between(random, 16, 512),
    ];
    return filled(random, (at) =>
      clipped(from + (to - from) * ((at % width) / width) + normal(random) * 2, 0x20),
    );
  },
  'sound of 8 bits': (random) => {
    const [turn, loudness] = [random.next() * 0.3, between(random, 1, 96)];
    return filled(random, (at) => clipped(128 + loudness * Math.sin(at * turn) + normal(random) * 4, 0));
  },
  'sound of 16 bits': (random) => {
    const [turn, loudness] = [random.next() * 0.3, between(random, 1, 32_000)];
    const bytes = Buffer.alloc(2 * between(random, 512, 1536));
    for (let at = 0; at < bytes.length; at += 2)
      bytes.writeInt16LE(Math.round(loudness * Math.sin(at * turn)), at);
    return bytes;
  },
  'sound of µ-law': (random) => {
    const spread = 4 + random.next() * 30;
    return filled(random, () => {
      const value = Math.min(127, Math.round(Math.abs(normal(random)) * spread));
      return random.next() < 0.5 ? 127 - value : 255 - value;
    });
  },
  'random behind a mark of UTF-16': (random) =>
    Buffer.concat([Buffer.of(0xff, 0xfe), filled(random, () => between(random, 0, 255))]),
};

function filled(random: Random, value: (at: number) => number): Buffer {
  const bytes = Buffer.alloc(2 * between(random, LENGTHS[0] / 2, LENGTHS[1] / 2));
  for (let at = 0; at < bytes.length; at++) bytes[at] = value(at);
  return bytes;
}

function clipped(value: number, low: number): number {
  return Math.max(low, Math.min(255, Math.round(value)));
}

/** About normal, of mean 0 and variance 1. */
function normal(random: Random): number {
  let sum = 0;
  for (let count = 0; count < 6; count++) sum += random.next();
  return (sum - 3) * Math.SQRT2;
}

function between(random: Random, low: number, high: number): number {
  return low + random.below(high - low + 1);
}
