import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AV_CODEC_ID_ASS, AV_CODEC_ID_MOV_TEXT, AV_CODEC_ID_SUBRIP } from 'node-av/constants';
import { Codec } from 'node-av/lib';
import sharp from 'sharp';
import t from 'tap';
import type { PictureContent } from '../../../src/protocol/document.ts';
import { DECODERS_ALLOWED } from '../../../src/readers/media/decoders.ts';
import { MediaFile } from '../../../src/readers/media/ffmpeg.ts';
import { cueText } from '../../../src/readers/media/subtitles.ts';
import { tagBlock, titleTag } from '../../../src/readers/media/tags.ts';
import { fromRaw } from '../../../src/readers/picture/picture-content.ts';
import { deep, onlyDeep } from '../../rig/deep.ts';
import { testExtractor } from '../../rig/readers.ts';
import { FILM_SOUND_RATE, writeFilm } from '../samples/films.ts';

const SAMPLES = '../shared/data/samples';
const SHORT_FILM = 'bottle-detection.mp4';
const needsShared = existsSync(SAMPLES) ? false : 'the shared sample files are not here';

const { extractor, read } = testExtractor(t);

function bitsApart(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((sum, byte, at) => sum + (byte ^ b[at]!).toString(2).replaceAll('0', '').length, 0);
}

t.test(
  'a film gives its shots in order, and a frame of second 7 is nearest to the shot of second 7',
  { skip: needsShared },
  async (t) => {
    for (const name of deep([SHORT_FILM], [SHORT_FILM, 'one-by-one-person-detection.mp4'])) {
      const path = `${SAMPLES}/video/${name}`;
      const { fileInfo, pictures } = await read(path);
      t.match(fileInfo, { kind: 'video', mediaType: 'video/mp4' });
      t.ok(fileInfo.duration_s! > 30);
      t.ok(pictures.length > 5 && pictures.length < fileInfo.duration_s! * 2 + 2, `${pictures.length} shots`);
      t.ok(pictures.every(({ time_s, time_end_s }) => time_end_s! > time_s!));
      const frame = await frameAt(path, 7);
      const near = pictures
        .map((picture) => ({ ...picture, bits: bitsApart(picture.fingerprint, frame.fingerprint) }))
        .sort((a, b) => a.bits - b.bits)[0]!;
      t.ok(
        near.time_s! <= 8 && near.time_end_s! >= 6,
        `${name}: ${near.time_s} to ${near.time_end_s}, ${near.bits} bits`,
      );
    }
  },
);

async function frameAt(path: string, second: number): Promise<PictureContent> {
  const file = new MediaFile(path, 'mov,mp4,m4a,3gp,3g2,mj2');
  try {
    for (const piece of file.read({ everySeconds: 0, keyFramesOnly: false })) {
      if ('width' in piece && piece.time_s >= second)
        return await fromRaw({ ...piece, channels: 3 }, undefined, { digest: new Uint8Array(32) });
    }
  } finally {
    file.close();
  }
  throw new Error('the film is shorter');
}

t.test(
  'a sound has its type and length, and says that its speech is not searchable',
  { skip: needsShared },
  async (t) => {
    const { fileInfo, pictures } = await read(`${SAMPLES}/audio/jfk.flac`);
    t.match(fileInfo, { kind: 'audio', mediaType: 'audio/flac', notSearchable: ['speech'] });
    t.ok(Math.abs(fileInfo.duration_s! - 11) < 0.1);
    t.same(pictures, []);
  },
);

t.test('a film without pictures is read as a sound', async (t) => {
  const second = Buffer.alloc(2 * FILM_SOUND_RATE, Buffer.of(0xe8, 0x03));
  for (const [format, mediaType] of [
    ['mov', 'audio/quicktime'],
    ['matroska', 'audio/matroska'],
  ] as const) {
    const path = join(t.testdir(), format);
    const sound = [{ ms: 0, data: second, lasts: 1000 }];
    writeFilm(path, format, { width: 160, height: 80, frames: [], sound });
    const fileInfo = await extractor.open(path, {});
    t.match(fileInfo, { kind: 'audio', mediaType, duration_s: 1, notSearchable: ['speech'] });
    let samples = 0;
    await extractor.extract(path, fileInfo, {
      onSound: async (piece) => {
        samples += piece.length;
      },
    });
    t.equal(samples, FILM_SOUND_RATE);
    await t.rejects(extractor.preview(path, { mediaType, page: 1 }), { code: 'preview_unavailable' });
  }
});

t.test('a cover is a picture of its recording, whatever the format', async (t) => {
  for (const name of ['song.mp3', 'song.flac', 'song.opus', 'song.m4a']) {
    const { fileInfo, pictures } = await read(join(import.meta.dirname, 'covers', name));
    t.match(fileInfo, { kind: 'audio', notSearchable: ['speech'] }, name);
    t.match(pictures, [{ width: 96, height: 96 }], `${name} shows its cover`);
  }
});

t.test('a decoder that is not in the list never runs; the list names those that do', async (t) => {
  const isUsed = (name: string) =>
    Codec.getCodecList().some((codec) => codec.name === name && Codec.findDecoder(codec.id)?.name === name);
  t.same(
    DECODERS_ALLOWED.split(',').filter((name) => !isUsed(name)),
    [],
  );
  const [width, height] = [64, 48];
  const create = { width, height, channels: 3, background: '#a04020' } as const;
  const data = await sharp({ create }).jpeg().toBuffer();
  const path = join(t.testdir(), 'film.mov');
  writeFilm(path, 'mov', { width, height, frames: [{ ms: 0, data, lasts: 1000 }] });
  t.match(await extractor.open(path, {}), { kind: 'video', mediaType: 'video/quicktime' });
  // Apple's "graphics" of 1991, which FFmpeg has a decoder for.
  const bytes = readFileSync(path);
  bytes.write('smc ', bytes.indexOf('jpeg'), 'latin1');
  writeFileSync(path, bytes);
  await t.rejects(extractor.open(path, {}), {
    code: 'file_corrupt',
    message: /in a format that cannot be decoded/,
  });
});

t.test('cues lose their markup', async (t) => {
  const bytes = (text: string) => Buffer.from(text);
  t.equal(cueText(AV_CODEC_ID_SUBRIP, bytes('<i>Good</i> morning')), 'Good morning');
  t.equal(cueText(AV_CODEC_ID_ASS, bytes('0,0,Default,,0,0,0,,{\\an8}Up, and\\Nthere')), 'Up, and\nthere');
  t.equal(
    cueText(AV_CODEC_ID_MOV_TEXT, Buffer.concat([Buffer.from([0, 5]), bytes('Hello and a style box')])),
    'Hello',
  );
});

t.test('tags become text, lyrics last', async (t) => {
  const tags = { TITLE: 'Gulls', artist: 'The Keepers', 'lyrics-eng': 'At dawn\nthey rise', encoder: 'Lavf' };
  t.equal(titleTag(tags), 'Gulls');
  t.same(
    tagBlock(tags, () => undefined),
    { text: 'Title: Gulls\nArtist: The Keepers\n\nAt dawn\nthey rise' },
  );
  t.equal(
    tagBlock({ encoder: 'Lavf' }, () => undefined),
    undefined,
  );
});

/** A picture in two colours, left and right. */
function halves(left: string, right: string, width = 160, height = 80): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: right } })
    .composite([
      { input: { create: { width: width / 2, height, channels: 3, background: left } }, left: 0, top: 0 },
    ])
    .jpeg({ quality: 95 })
    .toBuffer();
}

async function colourAt(bytes: Uint8Array, x: number, y: number): Promise<string> {
  const { data } = await sharp(bytes)
    .extract({ left: x, top: y, width: 1, height: 1 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data].map((tone) => (tone > 128 ? 'F' : '0')).join('');
}

t.test('a film that was shot upright is shown upright', async (t) => {
  const frames = [{ ms: 0, data: await halves('#ff0000', '#0000ff'), lasts: 1000 }];
  const unity = 65_536;
  const [wide, high] = [160 * unity, 80 * unity];
  const rotations = {
    right: {
      matrix: [0, unity, 0, -unity, 0, 0, high, 0, 2 ** 30],
      first: 'F00',
      last: '00F',
      upright: true,
    },
    left: { matrix: [0, -unity, 0, unity, 0, 0, 0, wide, 2 ** 30], first: '00F', last: 'F00', upright: true },
    over: {
      matrix: [-unity, 0, 0, 0, -unity, 0, wide, high, 2 ** 30],
      first: '00F',
      last: 'F00',
      upright: false,
    },
    not: { matrix: [unity, 0, 0, 0, unity, 0, 0, 0, 2 ** 30], first: 'F00', last: '00F', upright: false },
  };
  for (const [name, { matrix, first, last, upright }] of Object.entries(rotations)) {
    const path = join(t.testdir(), `${name}.mov`);
    writeFilm(path, 'mov', { width: 160, height: 80, frames, matrix });
    const { fileInfo, pictures } = await read(path);
    const [width, height] = upright ? [80, 160] : [160, 80];
    t.match(fileInfo, { width, height }, name);
    t.match(pictures, [{ width, height }], name);
    const preview = await extractor.preview(path, { mediaType: 'video/quicktime', page: 1 });
    t.match(preview, { width, height });
    t.equal(await colourAt(preview.bytes, 5, 5), first, name);
    t.equal(await colourAt(preview.bytes, width - 5, height - 5), last, name);
  }
});

t.test('pictures, sound and cues count from one start; gaps in the sound are silence', async (t) => {
  const path = join(t.testdir(), 'late.mkv');
  const red = await halves('#ff0000', '#0000ff');
  const blue = await halves('#0000ff', '#ff0000');
  const second = Buffer.alloc(2 * FILM_SOUND_RATE, Buffer.of(0xe8, 0x03));
  writeFilm(path, 'matroska', {
    width: 160,
    height: 80,
    frames: Array.from({ length: 20 }, (_, at) => ({
      ms: 5000 + at * 500,
      data: at < 10 ? red : blue,
      lasts: 500,
    })),
    sound: [
      { ms: 8000, data: second, lasts: 1000 },
      { ms: 12_000, data: second, lasts: 1000 },
    ],
    cues: [{ ms: 9000, data: Buffer.from('A gull cries.'), lasts: 1500 }],
  });
  const heard: Int16Array[] = [];
  const fileInfo = await extractor.open(path, {});
  const { blocks, pictures } = await extractor.extract(path, fileInfo, {
    onSound: async (samples) => void heard.push(samples),
  });
  t.match(pictures, [{ time_s: 0 }, { time_s: 5 }]);
  t.match(blocks, [{ text: 'A gull cries.', time_s: 4, time_end_s: 5.5 }]);
  const loud = heard.flatMap((samples) => [...samples]).map((sample) => sample !== 0);
  const changes = loud.flatMap((is, at) => (is === (loud[at - 1] ?? false) ? [] : [at / FILM_SOUND_RATE]));
  t.same(
    changes.map((at) => Math.round(at * 10) / 10),
    [3, 4, 7],
  );
  t.equal(loud.length, 8 * FILM_SOUND_RATE);
  const at = (timeS: number) => extractor.preview(path, { mediaType: 'video/matroska', page: 1, timeS });
  t.equal(await colourAt((await at(4.9)).bytes, 20, 40), 'F00');
  t.equal(await colourAt((await at(5)).bytes, 20, 40), '00F');
  t.equal(await colourAt((await at(500)).bytes, 20, 40), '00F', 'the last one, after the end');
});

t.test(
  'a preview is decoded from the key frame before it; after many pixels only key frames are decoded',
  { skip: onlyDeep || needsShared },
  async (t) => {
    const times = (second: number, decodedPixelsMax?: number): number[] => {
      const file = new MediaFile(`${SAMPLES}/video/bottle-detection.mp4`, 'mov,mp4,m4a,3gp,3g2,mj2');
      if (second > 0) file.seek(second);
      const options = {
        everySeconds: 0,
        keyFramesOnly: false,
        ...(decodedPixelsMax && { decodedPixelsMax }),
      };
      const found = [...file.read(options)].flatMap((piece) => ('width' in piece ? [piece.time_s] : []));
      file.close();
      return found;
    };
    const all = times(0);
    const [first = 0] = times(20);
    t.ok(first > 10 && first <= 20, `${first}`);
    t.same(times(first)[0], first, 'the same key frame');
    const few = times(0, 1);
    t.ok(few.length > 2 && few.length < all.length / 10, `${few.length} of ${all.length}`);
    t.ok(few.includes(first));
  },
);
