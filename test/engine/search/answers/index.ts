import type { QueryEncoder } from '../../../../src/engine/encode/index-models.ts';
import { Search } from '../../../../src/engine/search/search.ts';
import type { SegmentInput } from '../../../../src/engine/shard/shard.ts';
import { openTenants, type Tenants } from '../../../../src/engine/shard/tenants.ts';
import type { PictureContent } from '../../../../src/protocol/document.ts';
import { VECTOR_LISTS } from '../../../../src/protocol/family.ts';
import { Owners } from '../../../../src/queues/owners.ts';
import type { Item } from '../../../../src/protocol/schema/items.ts';
import type { Locator, SegmentRecord } from '../../../../src/protocol/schema/search.ts';
import type { SearchInput } from '../../../../src/protocol/search.ts';
import type { Extractor } from '../../../../src/readers/extractor.ts';
import { Random } from '../../../rig/random.ts';
import { itemOf, sha256 } from '../../shard/fixtures.ts';

/** An index of made-up documents, photographs, films and recordings, with vectors that follow from their words: the same on every machine. */

const DIMENSIONS = 48;
const SPACE_NAMES = ['text_semantic', 'visual_words', 'visual_picture'] as const;
const TENANT = 'ws_answers';
const NEVER = new AbortController().signal;

const WORDS =
  'keeper counts gulls dawn lighthouse harbour invoice bread temperature oven heating dogs garden chickens bridge family river stone market winter lamp ferry storm engine ticket museum painting violin letter captain anchor orchard honey copper railway signal valley clock tower mirror kitchen window island'.split(
    ' ',
  );
const NAMES = ['Eiffel', 'INV-4472', 'Møller', 'scatterplot', 'Blake', '2024-11-05', 'AX9'];
const GERMAN =
  'der Leuchtturm und das Haus werden nicht mehr gebraucht weil die Stadt sie verkauft hat'.split(' ');

export interface Asked extends SearchInput {
  /** The made-up picture that is sent: its number. */
  readonly photograph?: number;
}

/** A vector that follows from words: near for texts that share some. */
function vectorOf(text: string, salt: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const random = new Random(Number.parseInt(sha256(salt + word).slice(0, 7), 16));
    for (let at = 0; at < DIMENSIONS; at += 1) vector[at]! += random.next() - 0.5;
  }
  vector[0]! += 0.3;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function fingerprintOf(number: number): Uint8Array {
  const random = new Random(1 + Math.floor(number / 3));
  const print = Uint8Array.from({ length: 16 }, () => random.below(256));
  print[number % 16]! ^= 1 << (number % 3);
  return print;
}

const digestOf = (number: number): Uint8Array => Buffer.from(sha256(`photograph ${number}`), 'hex');

function sentence(random: Random, words: number): string {
  const of = Array.from({ length: words }, () =>
    random.hits(0.04) ? random.pick(NAMES) : random.hits(0.05) ? random.pick(GERMAN) : random.pick(WORDS),
  );
  return `${of.join(' ')}.`;
}

interface MadeItem {
  readonly item: Item;
  readonly segments: SegmentInput[];
}

function segment(
  item: string,
  place: number,
  locator: Locator,
  {
    text,
    note,
    vectors = {},
    photograph,
  }: {
    readonly text?: string;
    readonly note?: boolean;
    readonly vectors?: Record<string, Float32Array>;
    readonly photograph?: number;
  },
): SegmentInput {
  const record: SegmentRecord = {
    item,
    place,
    locator,
    ...(text !== undefined && { text }),
    ...(note && { text_source: 'metadata' }),
  };
  return {
    record,
    ...(text !== undefined && { words: text }),
    ...(photograph !== undefined && { fingerprint: fingerprintOf(photograph), digest: digestOf(photograph) }),
    vectors,
  };
}

function madeItems(): MadeItem[] {
  const random = new Random(11);
  const meaning = (text: string) => ({ text_semantic: vectorOf(text, 'meaning') });
  const looks = (text: string) => ({
    visual_words: vectorOf(text, 'look'),
    visual_picture: vectorOf(text, 'picture'),
  });
  const items: MadeItem[] = [];
  for (let number = 0; number < 70; number += 1) {
    const id = `text_${number}`;
    const segments = Array.from({ length: 1 + random.below(5) }, (_, page) => {
      const text = random.hits(0.1)
        ? `${GERMAN.join(' ')} ${random.pick(WORDS)}`
        : sentence(random, 8 + random.below(30));
      return segment(id, page >> 1, { page: 1 + (page >> 1) }, { text, vectors: meaning(text) });
    });
    items.push({ item: itemOf(id, { segments: segments.length, title: sentence(random, 3) }), segments });
  }
  for (let number = 0; number < 40; number += 1) {
    const id = `photograph_${number}`;
    const look = sentence(random, 5);
    const note = `Taken 2024-11-0${1 + (number % 9)}, ${random.pick(WORDS)}`;
    const segments = [
      segment(id, 0, {}, { vectors: looks(look), photograph: number }),
      segment(id, 0, {}, { text: note, note: true, vectors: number % 2 ? meaning(note) : {} }),
    ];
    items.push({ item: itemOf(id, { name: `IMG_${number}.jpg`, segments: 2 }), segments });
  }
  for (let number = 0; number < 4; number += 1) {
    const id = `film_${number}`;
    const segments = Array.from({ length: 60 }, (_, frame) => {
      const shot = Math.floor(frame / 3);
      const locator = { time_s: 4 * shot + 0.5, time_end_s: 4 * shot + 4.5 };
      if (frame % 3 === 2) {
        const text = sentence(random, 7);
        return segment(id, shot, locator, { text, vectors: meaning(text) });
      }
      return segment(id, shot, locator, { vectors: looks(sentence(random, 4)) });
    });
    items.push({ item: itemOf(id, { name: `film ${number}.mp4`, segments: 60 }), segments });
  }
  return items;
}

/** Searches of every kind. */
export function madeQueries(count: number): Asked[] {
  const random = new Random(23);
  return Array.from({ length: count }, (_, number): Asked => {
    const few = Array.from({ length: 1 + random.below(6) }, () => random.pick(WORDS)).join(' ');
    const queries = [
      few,
      `what ${few}`,
      `"${random.pick(WORDS)} ${random.pick(WORDS)}" ${random.pick(WORDS)}`,
      `${random.pick(NAMES)} ${few}`,
      `${GERMAN.slice(0, 9).join(' ')} ${random.pick(WORDS)}`,
      `is there any ${few} nobodyknows`,
      random.pick(WORDS)!.slice(1),
      `nowhereword otherabsent thirdmissing ${number % 2 ? '?' : ''}`,
      sentence(random, 25),
    ];
    const sent = random.below(10);
    return {
      ...(sent > 1 && { query: random.pick(queries) }),
      ...(sent < 3 && { image: new Uint8Array(1), photograph: random.below(60) }),
      k: random.pick([1, 3, 10, 10, 30, 100, 1000]),
      ...(random.hits(0.3) && { explain: true }),
      ...(random.hits(0.2) && { exact: true }),
      ...(random.hits(0.3) && { min_confidence: random.pick([0.02, 0.3, 0.6]) }),
      ...(random.hits(0.2) && {
        families: random.pick([['raw'], ['visual', 'raw'], ['raw', 'text_semantic']]),
      }),
    } as Asked;
  });
}

const CURVES = {
  raw_words: {
    weight: 1,
    curve: { bias: -1.2, lead: 4.5, held: 0.4, missing: -2.1 },
  },
  text_semantic: {
    weight: 0.2,
    scale: { mean: 0.08, deviation: 0.1 },
    curve: { bias: -2.6, lead: 5, cosine: 3.4, cosine_lead: 2.5 },
    with_words: { bias: -1.9, lead: 4, held: 1.1, missing: -2.4, written: 0.8 },
  },
  visual_words: { weight: 1, calibration: { a: 9.7, b: -4.1, lead: 6.2 } },
  visual_picture: { weight: 1, calibration: { a: 14.2, b: -9.3 } },
  raw_picture: { weight: 1 },
};

/** Stands for a model: its vectors are those of `vectorOf`. `measured`: with curves, calibration and a scale. */
function encoder(measured: boolean, photograph: () => number | undefined): QueryEncoder {
  const settings = (name: keyof typeof CURVES) => (measured ? CURVES[name] : { weight: CURVES[name].weight });
  const space = (name: (typeof SPACE_NAMES)[number], asksWith: object) => ({
    name,
    key: name,
    asksWith,
    lists: Object.fromEntries(
      VECTOR_LISTS.filter((list) => list === name).map((list) => [list, settings(list)]),
    ),
  });
  const known = { languages: ['eng'] };
  return {
    spaces: [
      space('text_semantic', { text: known }),
      space('visual_words', { text: known }),
      space('visual_picture', { picture: {} }),
    ],
    missing: [],
    fusion: {
      depth: 100,
      unknown_language_share: 0.2,
      answered_min: 0.4,
      raw_words: settings('raw_words'),
      raw_picture: settings('raw_picture'),
    },
    admitQuery: () => undefined,
    encodeQuery: async (kind: string, input: unknown) =>
      kind === 'text'
        ? {
            text_semantic: vectorOf(input as string, 'meaning'),
            visual_words: vectorOf(input as string, 'look'),
          }
        : { visual_picture: vectorOf(WORDS[photograph()! % WORDS.length]!, 'picture') },
  } as unknown as QueryEncoder;
}

/** Answers made-up searches over the made-up index. */
export async function openAnswers(folder: string) {
  const spaces = SPACE_NAMES.map((name) => ({ name, dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }));
  const tenants: Tenants = openTenants({ folder, spaces, openShardsMax: 4 });
  await tenants.use(TENANT, { create: true }, async (shard) => {
    const items = madeItems();
    for (let from = 0; from < items.length; from += 20)
      await Promise.all(
        items.slice(from, from + 20).map(({ item, segments }) => shard.append(item, segments)),
      );
    await shard.whenIdle();
  });
  let photograph: number | undefined;
  const decodePicture = async (): Promise<PictureContent> =>
    ({
      pixels: { rgb: new Uint8Array() },
      fingerprint: fingerprintOf(photograph!),
      digest: digestOf(photograph!),
    }) as unknown as PictureContent;
  const searchOf = (measured: boolean) => {
    const current = encoder(measured, () => photograph) as never;
    return new Search({
      tenants,
      owners: new Owners(),
      encoders: { current, search: (_index, _asked, work) => work(current) },
      extractor: { decodePicture } as unknown as Extractor,
    });
  };
  const searches = { measured: searchOf(true), unmeasured: searchOf(false) };
  return {
    close: () => tenants.close(),
    answer: async ({ photograph: number, ...input }: Asked, measured = true) => {
      photograph = number;
      const search = measured ? searches.measured : searches.unmeasured;
      const {
        latency_ms: _,
        timing: __,
        hits,
        ...found
      } = await search.run(TENANT, input, NEVER, {
        expiresAt: '2026-12-24T18:00:00.000Z',
      });
      return { ...found, hits: hits.toJSON() };
    },
  };
}
