import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AV_CODEC_ID_ASS, AV_CODEC_ID_MOV_TEXT, AV_CODEC_ID_SUBRIP } from 'node-av/constants';
import t from 'tap';
import { EXTRACT_LIMITS, type Extracted, type PictureContent } from '../../src/domain/document.ts';
import { openExtractor } from '../../src/extract/extractor.ts';
import { MediaFile } from '../../src/extract/ffmpeg.ts';
import { fromRaw } from '../../src/extract/picture.ts';
import { ShotMerger } from '../../src/extract/shots.ts';
import { cueText } from '../../src/extract/subtitles.ts';
import { tagBlock, titleTag } from '../../src/extract/tags.ts';

const SAMPLES = '../shared/data/samples';
const needsShared = existsSync(SAMPLES) ? false : 'the shared sample files are not here';

const extractor = openExtractor({
  pictureSpec: undefined,
  limits: EXTRACT_LIMITS,
  scratchFolder: join(t.testdir(), 'scratch'),
  log: () => undefined,
});
t.teardown(() => extractor.close());

async function read(path: string): Promise<Extracted> {
  return extractor.extract(path, await extractor.open(path, {}));
}

function bitsApart(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((sum, byte, at) => sum + (byte ^ b[at]!).toString(2).replaceAll('0', '').length, 0);
}

t.test(
  'a film gives its shots in order, and a frame of second 7 is nearest to the shot of second 7',
  { skip: needsShared },
  async (t) => {
    for (const name of ['bottle-detection.mp4', 'one-by-one-person-detection.mp4']) {
      const path = `${SAMPLES}/video/${name}`;
      const { opened, pictures } = await read(path);
      t.match(opened, { kind: 'video', mediaType: 'video/mp4' });
      t.ok(opened.duration_s! > 30);
      t.ok(pictures.length > 5 && pictures.length < opened.duration_s! * 2 + 2, `${pictures.length} shots`);
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

t.test('sound says what it is, and that its speech cannot be found', { skip: needsShared }, async (t) => {
  const { opened, pictures } = await read(`${SAMPLES}/audio/jfk.flac`);
  t.match(opened, { kind: 'audio', mediaType: 'audio/flac', notSearchable: ['speech'] });
  t.ok(Math.abs(opened.duration_s! - 11) < 0.1);
  t.same(pictures, []);
});

t.test('a recording cut off at any tenth is read or refused by code', { skip: needsShared }, async (t) => {
  for (const name of ['video/bottle-detection.mp4', 'audio/jfk.flac']) {
    const bytes = readFileSync(`${SAMPLES}/${name}`);
    for (let tenth = 1; tenth < 10; tenth++) {
      const path = join(t.testdir(), 'cut');
      writeFileSync(path, bytes.subarray(0, (bytes.length * tenth) / 10));
      const outcome = await extractor.open(path, {}).then(
        () => 'opened',
        (error: { code: string }) => error.code,
      );
      t.ok(['opened', 'file_corrupt'].includes(outcome), `${name} at ${tenth}/10: ${outcome}`);
    }
  }
});

t.test('a playlist is text, and never followed', async (t) => {
  for (const playlist of [
    '#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/hostname\n',
    'ffconcat version 1.0\nfile /etc/hostname\n',
  ]) {
    const path = join(t.testdir(), 'list');
    writeFileSync(path, playlist);
    t.match(await extractor.open(path, {}), { mediaType: 'text/plain' });
    t.throws(() => new MediaFile(path, 'mov,mp4,m4a,3gp,3g2,mj2'), { code: 'file_corrupt' });
  }
});

t.test('cues lose their marks of style', async (t) => {
  const bytes = (text: string) => Buffer.from(text);
  t.equal(cueText(AV_CODEC_ID_SUBRIP, bytes('<i>Good</i> morning')), 'Good morning');
  t.equal(cueText(AV_CODEC_ID_ASS, bytes('0,0,Default,,0,0,0,,{\\an8}Up, and\\Nthere')), 'Up, and\nthere');
  t.equal(
    cueText(AV_CODEC_ID_MOV_TEXT, Buffer.concat([Buffer.from([0, 5]), bytes('Hello and a style box')])),
    'Hello',
  );
});

t.test('tags become words, and lyrics come last', async (t) => {
  const tags = { TITLE: 'Gulls', artist: 'The Keepers', 'lyrics-eng': 'At dawn\nthey rise', encoder: 'Lavf' };
  t.equal(titleTag(tags), 'Gulls');
  t.same(tagBlock(tags), { text: 'Title: Gulls\nArtist: The Keepers\n\nAt dawn\nthey rise' });
  t.equal(tagBlock({ encoder: 'Lavf' }), undefined);
});

t.test('near-equal neighbours are one shot, and many shots stay spread', async (t) => {
  const frame = (time_s: number, byte: number) =>
    ({ time_s, time_end_s: time_s, fingerprint: new Uint8Array(16).fill(byte) }) as unknown as PictureContent;
  const merger = new ShotMerger(4, 1);
  for (let second = 0; second < 10; second++) merger.push(frame(second, second < 5 ? 0 : 255));
  t.match(merger.finish(), [
    { time_s: 0, time_end_s: 5 },
    { time_s: 5, time_end_s: 10 },
  ]);
  for (let second = 0; second < 64; second++) merger.push(frame(second, second % 2 ? 0 : 255));
  const kept = merger.finish();
  t.ok(kept.length <= 4 && kept[0]!.time_s === 0 && kept.at(-1)!.time_s! >= 32);
});
