import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTRACT_LIMITS } from '../../src/domain/document.ts';
import { BareThreads } from '../encode/bare.ts';
import { BenchWorkspace, inParallel, quantile } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';
import { MeasuredServer } from '../workspaces/server.ts';
import { type BareRun, bareMedia, barePdf, barePictures } from './bare-decoders.ts';
import { BarePictureModel } from './bare-pictures.ts';
import { passagesOfBlocks } from './passages.ts';

/**
 * `make bench NAME=ingest`: pages, pictures and seconds of film per second through the server, against its decoders and its models by themselves
 * on the same files in the same run; and the server's memory over 1,000 files. ROUNDS=3 FILES=1000.
 */
const SHARED = '../shared/data';
const ROUNDS = Number(process.env.ROUNDS || 3);
const FILES = Number(process.env.FILES || 1000);
const NICENESS = 10;
const THREADS = 2;
const PICTURES_AT_ONCE = 8;
const AIM_OF_BARE = 0.9;
const AIM_OF_PDF = 1.15;

interface Kind {
  readonly kind: string;
  readonly unit: string;
  readonly amount: number;
  readonly served_s: number;
  readonly decoder_s: number;
  readonly encoder_s: number;
}

if (!existsSync(SHARED)) {
  console.error('the shared sample files are not here');
  process.exit(3);
}
const of = machine();
const data = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
const server = await MeasuredServer.start(data, {
  PREFER_WAIT_SECONDS_MAX: '600',
  INGEST_WORKERS: String(THREADS),
  // Two of the photographs hold letters: recognising them takes longer than all the rest, and is no decoder's work.
  OCR_LANGUAGES: '',
});
const texts = await BareThreads.open(THREADS, NICENESS);
const model = await BarePictureModel.open();
try {
  await send(await rented(), ['samples/tea.txt', 'samples/rocket.jpg', 'samples/almanac.pdf']);
  const kinds: Kind[] = [];
  for (let round = 0; round < ROUNDS; round++) kinds.push(await pages(), await pictures(), await films());
  const figures = ['pages', 'pictures', 'film'].map((kind) =>
    summary(kinds.filter((one) => one.kind === kind)),
  );
  const memory = await memoryOverFiles();
  const record = { rounds: ROUNDS, threads: THREADS, figures, memory };
  console.log(JSON.stringify(record, null, 2));
  console.log(writeRecord('ingest', record, of));
} finally {
  await texts.close();
  await server.kill();
  rmSync(data, { recursive: true, force: true });
}

async function pages(): Promise<Kind> {
  const path = longestPdf();
  const decoded = await barePdf(path, EXTRACT_LIMITS, model.spec);
  const passages = passagesOfBlocks(decoded.title, decoded.blocks);
  const encoded = await texts.run({ texts: passages, rows: 1, milliseconds: 0 });
  const shown = await model.run(decoded.pictures);
  const served_s = await send(await rented(), [path]);
  const encoder_s = encoded.milliseconds / 1000 + shown;
  return {
    kind: 'pages',
    unit: 'pages',
    amount: decoded.amount,
    served_s,
    decoder_s: decoded.seconds,
    encoder_s,
  };
}

async function pictures(): Promise<Kind> {
  const folder = join(SHARED, 'photos');
  const paths = ['skimage', 'coral'].flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => /\.(jpe?g|png|bmp|webp)$/i.test(file))
      .map((file) => join(folder, name, file)),
  );
  const decoded = await barePictures(paths, EXTRACT_LIMITS, model.spec);
  const encoder_s = await model.run(decoded.pictures);
  const served_s = await send(await rented(), paths);
  return {
    kind: 'pictures',
    unit: 'pictures',
    amount: decoded.amount,
    served_s,
    decoder_s: decoded.seconds,
    encoder_s,
  };
}

async function films(): Promise<Kind> {
  const folder = join(SHARED, 'samples/video');
  const paths = readdirSync(folder)
    .filter((name) => name.endsWith('.mp4'))
    .map((name) => join(folder, name));
  const decoded: BareRun = await bareMedia(paths, model.spec);
  const encoder_s = await model.run(decoded.pictures);
  const served_s = await send(await rented(), paths);
  return {
    kind: 'film',
    unit: 'seconds of film',
    amount: decoded.amount,
    served_s,
    decoder_s: decoded.seconds,
    encoder_s,
  };
}

/** Sends all and waits until all are searchable. @returns seconds. */
async function send(workspace: BenchWorkspace, paths: readonly string[]): Promise<number> {
  const began = performance.now();
  await inParallel('files', paths, PICTURES_AT_ONCE, (path) =>
    workspace.ingest(path.split('/').at(-1)!, new Uint8Array(readFileSync(path))),
  );
  return (performance.now() - began) / 1000;
}

function rented(): Promise<BenchWorkspace> {
  return BenchWorkspace.rent(server.url, 240);
}

function longestPdf(): string {
  const folder = join(SHARED, 'samples/pdf');
  const sized = readdirSync(folder)
    .filter((name) => name.endsWith('.pdf'))
    .map((name) => ({
      path: join(folder, name),
      pages: readFileSync(join(folder, name), 'latin1').split('/Type /Page').length,
    }));
  return sized.sort((a, b) => b.pages - a.pages)[0]!.path;
}

/** Medians of the rounds. The slower of decoder and encoder bounds what the server can do. */
function summary(rounds: readonly Kind[]) {
  const middle = (value: (one: Kind) => number): number => quantile(rounds.map(value), 0.5);
  const { kind, unit, amount } = rounds[0]!;
  const share = middle((one) => Math.max(one.decoder_s, one.encoder_s) / one.served_s);
  return {
    kind,
    unit,
    amount,
    per_second: {
      served: middle((one) => one.amount / one.served_s),
      bare_decoder: middle((one) => one.amount / one.decoder_s),
      bare_encoder: middle((one) => one.amount / one.encoder_s),
    },
    share_of_the_slower: share,
    reaches: share >= AIM_OF_BARE,
    ...(kind === 'pages' && {
      time_against_encoding: middle((one) => one.served_s / one.encoder_s),
      reaches_time: middle((one) => one.served_s / one.encoder_s) <= AIM_OF_PDF,
    }),
  };
}

/** Resident memory of the server's own process after each fifth of so many small files. */
async function memoryOverFiles() {
  const workspace = await rented();
  const resident: number[] = [];
  for (let fifth = 0; fifth < 5; fifth++) {
    const names = Array.from({ length: Math.ceil(FILES / 5) }, (_, index) => `${fifth}-${index}.txt`);
    await inParallel('small files', names, PICTURES_AT_ONCE, (name) =>
      workspace.ingest(
        name,
        new TextEncoder().encode(`Note ${name}: the tide of harbour ${name} turns at noon.`),
      ),
    );
    resident.push(Math.round(server.residentMiB));
  }
  return { files: FILES, resident_mib_after_each_fifth: resident };
}
