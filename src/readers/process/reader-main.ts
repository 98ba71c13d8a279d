/**
 * The process that reads strangers' files, with an empty environment and one pipe (reader-bootstrap.ts starts it). It loads
 * its libraries, confines itself for good, and then performs one task after the other.
 */
import { readdirSync } from 'node:fs';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Block } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { native } from '../native.ts';
import { BLOCK_LENGTH_MAX } from '../reading/blocks.ts';
import type { Output } from '../reading/sink.ts';
import {
  encodeFrame,
  FrameReader,
  PIPE,
  type Prepare,
  type Program,
  pictureBody,
  pictureHeader,
  type Settings,
  type Task,
} from './messages.ts';

const PROGRESS_INTERVAL_MS = 100;
/** Bounds a message of blocks that are a few characters each, with their marks. */
const MESSAGE_BLOCKS_MAX = 500;

const pipe = new Socket({ fd: PIPE, readable: true, writable: true });
// A supervisor may signal the whole group: the server ends its readers itself, when what they read can go on at the next start.
process.on('SIGTERM', () => undefined);
// The pipe ends with the server.
pipe.on('close', () => process.exit(0));
pipe.on('error', () => process.exit(0));

let program: Program | undefined;

const PROGRAMS: Readonly<Record<Settings['program'], () => Promise<{ prepare: Prepare }>>> = {
  reader: () => import('../reader.ts'),
  queries: () => import('../picture/query-reader.ts'),
  recogniser: () => import('../ocr/recogniser.ts'),
  media: () => import('../media/media.ts'),
};

/** Loads the program, confines the process, and tries whether reading works while confined. */
async function start(settings: Settings): Promise<Program> {
  const { prepare } = await PROGRAMS[settings.program]();
  const prepared = await prepare(settings);
  lowerPriority(settings.niceness);
  const confinement = native.confine({
    readable: [settings.scratch],
    memoryBytes: settings.limits.memoryBytesMax,
  });
  await prepared.tryOut();
  native.returnFreeMemory();
  await send({ reply: 'ready', confinement });
  return prepared;
}

async function send(header: object, body?: Uint8Array): Promise<void> {
  let flowing = true;
  for (const piece of encodeFrame(header, body)) flowing = pipe.write(piece);
  if (!flowing) await new Promise<void>((resolve) => pipe.once('drain', resolve));
}

/**
 * Lowers the priority of the whole process. On Linux each thread has its own, and takes its creator's. A process that is still loading
 * is waited for, and beside busy programs a low priority leaves it little.
 */
function lowerPriority(niceness: number): void {
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness);
}

/** Sends everything at once, but small blocks many in a message. */
function outputToServer(): Output {
  let blocks: Block[] = [];
  let characters = 0;
  let reported = 0;
  let unread: readonly NotRead[] = [];
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
      if (characters >= BLOCK_LENGTH_MAX || blocks.length >= MESSAGE_BLOCKS_MAX) await flush();
    },
    members: {
      begin: (path) => send({ reply: 'member', path, last: false }),
      piece: (bytes) => send({ reply: 'member', last: false }, bytes),
      end: (refused) =>
        send({
          reply: 'member',
          last: true,
          ...(refused && {
            refused: { code: refused.code, detail: refused.detail, facts: refused.facts },
          }),
        }),
    },
    picture: (picture) => send(pictureHeader(picture), pictureBody(picture)),
    preview: ({ bytes, width, height }) => send({ reply: 'preview', width, height }, bytes),
    sound: (samples) => send({ reply: 'sound' }, samples),
    notRead: (what, why, count) => {
      unread = addNotRead(unread, { what, ...(count !== undefined && { count }), why });
    },
    get unread() {
      return unread;
    },
    progress: (fraction) => {
      const now = performance.now();
      if (now - reported < PROGRESS_INTERVAL_MS) return;
      reported = now;
      void send({ reply: 'progress', fraction });
    },
  };
}

async function handle(header: unknown, body: Buffer): Promise<void> {
  if (!program) {
    program = await start(header as Settings);
    return;
  }
  try {
    const output = outputToServer();
    const done = await program.perform(header as Task, body, output);
    await output.flush();
    await send({ reply: 'done', ...done, ...(output.unread.length > 0 && { notRead: output.unread }) });
  } catch (error) {
    // A FarthingError is the file's fault and goes to its sender. Anything else is a fault of this process, and ends it.
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
