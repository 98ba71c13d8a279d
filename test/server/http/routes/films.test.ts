import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import type { SearchAnswer } from '../../../../src/protocol/schema/search.ts';
import { writeFilm } from '../../../readers/samples/films.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** Films, pages and photographs side by side, through a whole search. */
const [WIDTH, HEIGHT, SHOTS, SHOT_MS] = [160, 96, 24, 4000] as const;
const folder = t.testdir({});
const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
const workspace = await new TestAgent(server.url).rent();

/** A picture of its number: bars of other widths and colours. */
function picture(number: number): Promise<Buffer> {
  const bars = Array.from({ length: 6 }, (_, at) => {
    const [x, hue] = [(at * 160) / 6, (number * 47 + at * 71) % 360];
    return `<rect x="${x}" y="${(number * (at + 3) * 11) % 60}" width="${8 + ((number * 7 + at * 5) % 18)}" height="${30 + ((number + at) % 5) * 8}" fill="hsl(${hue},80%,50%)"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><rect width="160" height="96" fill="#ddd"/>${bars.join('')}</svg>`;
  return sharp(Buffer.from(svg)).jpeg().toBuffer();
}

const pictures = await Promise.all(Array.from({ length: SHOTS + 3 }, (_, number) => picture(number)));
const path = join(folder, 'harbour.mkv');
writeFilm(path, 'matroska', {
  width: WIDTH,
  height: HEIGHT,
  frames: pictures
    .slice(0, SHOTS)
    .flatMap((data, shot) =>
      Array.from({ length: 4 }, (_, at) => ({ ms: shot * SHOT_MS + at * 1000, data, lasts: 1000 })),
    ),
  cues: [
    { ms: 9_000, data: Buffer.from('Gulls circle above the fishing boats.'), lasts: 2500 },
    { ms: 41_000, data: Buffer.from('The ferry leaves for the islands at noon.'), lasts: 2500 },
    { ms: 70_000, data: Buffer.from('Gulls follow the ferry home.'), lasts: 2500 },
  ],
});
await workspace.ingest('harbour.mkv', new Uint8Array(readFileSync(path)));
for (const [at, data] of pictures.slice(SHOTS).entries())
  await workspace.ingest(`bars-${at}.jpg`, new Uint8Array(data));
await workspace.ingest('bread.txt', 'Knead the dough for ten minutes and let it rise twice.');

const search = async (request: object): Promise<SearchAnswer> => (await workspace.search(request)).body;
const films = ({ hits }: SearchAnswer) => hits.filter(({ item }) => item.name === 'harbour.mkv');

t.test('a film is one hit at its best moment, with others, whatever family finds it', async (t) => {
  for (const request of [
    { query: 'gulls and a ferry' },
    { query: 'gulls and a ferry', families: ['text_semantic'] },
    { query: 'coloured bars', families: ['visual'] },
    { query: 'ferry', families: ['raw'] },
    { image_b64: pictures[5]!.toString('base64') },
  ]) {
    const [film, ...more] = films(await search(request));
    t.same(more, [], JSON.stringify(request));
    t.ok(film!.locator.time_s !== undefined && film!.moments!.length >= 1);
    t.ok(film!.moments!.length <= 10);
    let before = film!.confidence;
    for (const { time_s, time_end_s, confidence } of film!.moments!) {
      t.ok(confidence <= before && time_s !== film!.locator.time_s && (time_end_s ?? time_s) >= time_s);
      before = confidence;
    }
  }
});

t.test('the best moment is where the words are said, or the picture is shown', async (t) => {
  const [said] = films(await search({ query: 'when does the ferry leave for the islands?' }));
  t.equal(said!.locator.time_s, 41);
  t.ok(
    said!.moments!.some(({ time_s }) => Math.floor(time_s / 4) === 17),
    'the shot in which it is said, too',
  );
  t.notOk(
    said!.moments!.some(({ time_s }) => time_s === 40),
    'the frame that is shown meanwhile is the same moment',
  );
  const [shown] = films(await search({ image_b64: pictures[7]!.toString('base64') }));
  t.equal(Math.floor(shown!.locator.time_s! / 4), 7);
});
