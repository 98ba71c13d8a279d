/**
 * The process that reads strangers' files: started by ReaderProcess, with an empty environment and one pipe. It loads
 * its libraries, gives up everything else for good, and then answers one task after the other.
 */
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import sharp from 'sharp';
import type { Block } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';
import { native } from '../native/index.ts';
import { encodeFrame, FrameReader, PIPE } from './frames.ts';
import { pictureBody, pictureHeader, type Settings, type Task } from './messages.ts';
import { Pdfium } from './pdfium.ts';
import { prepareSharp, readPicture } from './picture.ts';
import { renderPreview } from './preview.ts';
import { BLOCK_LENGTH_MAX, extractFile, openFile, type Reading, type Sink } from './read.ts';
import { recognise } from './recognise.ts';

/** Memory that PDFium has grown to and never gives back, above which a fresh process is better. */
const WORN_BYTES = 192 * 2 ** 20;
const PROGRESS_INTERVAL_MS = 100;

const pipe = new Socket({ fd: PIPE, readable: true, writable: true });
// Without the server there is nobody to read for.
pipe.on('close', () => process.exit(0));
pipe.on('error', () => process.exit(0));

let reading: Reading | undefined;

/** Loads all that is loaded lazily otherwise, confines the process, and tries that reading works within. */
async function prepare({ limits, pictureSpec, scratch, niceness }: Settings): Promise<Reading> {
  setPriority(niceness);
  const sample = sharp({ create: { width: 16, height: 16, channels: 3, background: '#7f7f7f' } });
  const samples = await Promise.all([
    sample.clone().jpeg().toBuffer(),
    sample.clone().png().toBuffer(),
    sample.clone().webp().toBuffer(),
  ]);
  // The encoder of previews is loaded by this, too.
  prepareSharp();
  const prepared = { pdfium: await Pdfium.load(), limits, pictureSpec };
  const confinement = native.confine({ readable: [scratch], memoryBytes: limits.memoryBytesMax });
  await Promise.all(samples.map((bytes) => openFile(bytes, undefined, prepared)));
  await send({ reply: 'ready', confinement });
  return prepared;
}

async function send(header: object, body?: Uint8Array): Promise<void> {
  let flowing = true;
  for (const piece of encodeFrame(header, body)) flowing = pipe.write(piece);
  if (!flowing) await new Promise<void>((resolve) => pipe.once('drain', resolve));
}

/** Gathers small blocks into messages. */
function sinkToServer(): Sink & { flush(): Promise<void> } {
  let blocks: Block[] = [];
  let characters = 0;
  let reported = 0;
  const flush = async (): Promise<void> => {
    if (blocks.length === 0) return;
    const message = { reply: 'blocks', blocks };
    blocks = [];
    characters = 0;
    await send(message);
  };
  return {
    flush,
    block: async (block) => {
      blocks.push(block);
      characters += block.text.length;
      if (characters >= BLOCK_LENGTH_MAX) await flush();
    },
    picture: (picture) => send(pictureHeader(picture), pictureBody(picture)),
    progress: (fraction) => {
      const now = performance.now();
      if (now - reported < PROGRESS_INTERVAL_MS) return;
      reported = now;
      void send({ reply: 'progress', fraction });
    },
  };
}

async function perform(task: Task, body: Buffer, prepared: Reading): Promise<void> {
  const { limits, pictureSpec } = prepared;
  if (task.task === 'picture') {
    const found = await recognise(body, undefined);
    if (found.kind !== 'picture') throw new FarthingError('image_unreadable', 'It is no picture.');
    const picture = await readPicture(body, found.mediaType, limits, pictureSpec);
    await send(pictureHeader(picture), pictureBody(picture));
    return send({ reply: 'done' });
  }
  const bytes = await readFile(task.path);
  if (task.task === 'open')
    return send({ reply: 'done', opened: await openFile(bytes, task.name, prepared) });
  if (task.task === 'preview') {
    const { bytes: webp, width, height } = await renderPreview(bytes, task, prepared);
    await send({ reply: 'preview', width, height }, webp);
    return send({ reply: 'done', worn: prepared.pdfium.memoryBytes > WORN_BYTES });
  }
  const sink = sinkToServer();
  const title = await extractFile(bytes, task.mediaType, prepared, sink);
  await sink.flush();
  return send({ reply: 'done', title, worn: prepared.pdfium.memoryBytes > WORN_BYTES });
}

async function handle(header: unknown, body: Buffer): Promise<void> {
  if (!reading) {
    reading = await prepare(header as Settings);
    return;
  }
  try {
    await perform(header as Task, body, reading);
  } catch (error) {
    // Only what was recognised as the file's fault has words for its sender; anything else is a fault of this process.
    if (error instanceof FarthingError)
      await send({ reply: 'refused', code: error.code, detail: error.detail, facts: error.facts });
    else throw error;
  }
}

const frames = new FrameReader();
let last = Promise.resolve();
pipe.on('data', (piece: Buffer) => {
  for (const { header, body } of frames.push(piece))
    last = last.then(() => handle(header, Buffer.from(body)));
  last.catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, () => process.exit(1));
  });
});
