import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXTRACT_LIMITS } from '../../src/protocol/document.ts';
import { Bare } from '../encode/bare.ts';
import { BenchWorkspace, inParallel } from '../rig/agent.ts';
import { type Figure, median } from '../rig/figures.ts';
import { whereOf } from '../sets/where.js';
import { MeasuredServer } from '../tenants/server.ts';
import { type BareRun, bareMedia, barePdf, barePictures } from './bare-decoders.ts';
import { BarePictureModel } from './bare-pictures.ts';
import { passagesOfBlocks } from './passages.ts';

/**
 * Pages, pictures and seconds of film a second through the server, beside its decoders and its models by themselves on the same files in
 * the same run; and the server's memory over many small files. Without the larger samples beside the tree those of the tree are taken,
 * among which no film is.
 */
const SAMPLES = resolve(import.meta.dirname, '../../samples');
const [ROUNDS, FILES] = [Number(process.env.ROUNDS), Number(process.env.FILES)];
const THREADS = 2;
const PICTURES_AT_ONCE = 8;

const data = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
const server = await MeasuredServer.start(data, {
  PREFER_WAIT_SECONDS_MAX: '600',
  INGEST_WORKERS: String(THREADS),
  // Two of the photographs hold letters: recognising them takes longer than all the rest, and is no decoder's work.
  OCR_LANGUAGES: '',
});
const texts = await Bare.open(THREADS, 'ingest');
const model = await BarePictureModel.open();

/** Files of one kind, and what reads them without a server. */
interface Kind {
  readonly paths: readonly string[];
  decode(): Promise<BareRun>;
}

const filesIn = (folder: string | undefined, names: RegExp): string[] =>
  folder === undefined
    ? []
    : readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => names.test(name))
        .map((name) => join(folder, name));
const pages = longestOf([
  ...filesIn(whereOf('samples/pdf'), /^(?!.*password).*\.pdf$/),
  join(SAMPLES, 'almanac.pdf'),
]);
const pictures = filesIn(whereOf('photos') ?? SAMPLES, /\.(jpe?g|png|bmp|webp)$/i);
const films = filesIn(whereOf('samples/video'), /\.mp4$/);
const KINDS: Readonly<Record<string, Kind>> = {
  pages: { paths: [pages], decode: () => barePdf(pages, EXTRACT_LIMITS, model.spec) },
  pictures: { paths: pictures, decode: () => barePictures(pictures, EXTRACT_LIMITS, model.spec) },
  'seconds of film': { paths: films, decode: () => bareMedia(films, model.spec) },
};

export const facts: Record<string, object> = {};
try {
  await send(['tea.txt', 'rocket.jpg', 'almanac.pdf'].map((name) => join(SAMPLES, name)));
  for (const [name, kind] of Object.entries(KINDS)) {
    if (kind.paths.length === 0) console.log(`${name}: not measured, there is no such sample`);
    else facts[name] = await measured(kind);
  }
  facts.resident_mib = await memoryOverFiles();
} finally {
  await server.kill();
  rmSync(data, { recursive: true, force: true });
}

/** The slower of decoder and encoder bounds what the server can do. */
async function measured({ paths, decode }: Kind): Promise<Record<string, Figure | number>> {
  const rounds: { amount: number; decoder: number; encoder: number; served: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { amount, seconds, title, blocks, pictures } = await decode();
    const passages = await passagesOfBlocks(title, blocks);
    const encoding = await texts.run({ texts: passages, rows: 1, milliseconds: 0 });
    const encoder = encoding.milliseconds / 1000 + (await model.run(pictures));
    rounds.push({ amount, decoder: seconds, encoder, served: await send(paths) });
  }
  const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of));
  const served = { value: middle(({ amount, served }) => amount / served), unit: '/s' };
  return {
    beside_the_decoder: {
      ...served,
      peer: 'the decoder alone',
      peer_value: middle(({ amount, decoder }) => amount / decoder),
    },
    beside_the_encoder: {
      ...served,
      peer: 'the encoder alone',
      peer_value: middle(({ amount, encoder }) => amount / encoder),
    },
    share_of_the_slower: middle(({ decoder, encoder, served }) => Math.max(decoder, encoder) / served),
  };
}

/** Sends all to a workspace of their own and waits until all are searchable. @returns seconds */
async function send(paths: readonly string[]): Promise<number> {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  const began = performance.now();
  await inParallel('files', paths, PICTURES_AT_ONCE, (path) =>
    workspace.ingest(path.split('/').at(-1)!, new Uint8Array(readFileSync(path))),
  );
  return (performance.now() - began) / 1000;
}

function longestOf(paths: readonly string[]): string {
  const pagesOf = (path: string) => readFileSync(path, 'latin1').split('/Type /Page').length;
  return paths.toSorted((one, other) => pagesOf(other) - pagesOf(one))[0]!;
}

/** Resident memory of the server's own process after each fifth of many small files. */
async function memoryOverFiles(): Promise<Record<string, number>> {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  const resident: Record<string, number> = {};
  for (let fifth = 1; fifth <= 5; fifth++) {
    const names = Array.from({ length: Math.ceil(FILES / 5) }, (_, index) => `${fifth}-${index}.txt`);
    await inParallel('small files', names, PICTURES_AT_ONCE, (name) =>
      workspace.ingest(name, Buffer.from(`Note ${name}: the tide of harbour ${name} turns at noon.`)),
    );
    resident[`after ${(fifth * FILES) / 5} files`] = server.residentMiB;
  }
  return resident;
}
