import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Block, ExtractLimits, PictureContent, PictureSpec } from '../../src/protocol/document.ts';
import { MediaFile, quietFfmpeg } from '../../src/readers/media/ffmpeg.ts';
import { extractPdf } from '../../src/readers/pdf/pdf.ts';
import { Pdfium } from '../../src/readers/pdf/pdfium.ts';
import { pictureTypeOf } from '../../src/readers/picture/picture.ts';
import { fromRaw, readPicture } from '../../src/readers/picture/picture-content.ts';
import { prepareSharp } from '../../src/readers/picture/picture-source.ts';
import { ShotMerger } from '../../src/readers/picture/shots.ts';

/** What a decoder gives by itself, on this thread, and how long it takes for it. */
export interface BareRun {
  readonly amount: number;
  readonly seconds: number;
  readonly title?: string;
  readonly blocks: readonly Block[];
  readonly pictures: readonly PictureContent[];
}

const MP4 = 'mov,mp4,m4a,3gp,3g2,mj2';
/** As src/readers/media/media.ts looks at films. */
const LOOK_EVERY_SECONDS = 0.5;
const SHOTS_MAX = 1_000;

/** Text and pictures of pages. */
export async function barePdf(path: string, limits: ExtractLimits, spec: PictureSpec): Promise<BareRun> {
  const pdfium = await Pdfium.load();
  const bytes = readFileSync(path);
  const blocks: Block[] = [];
  const pictures: PictureContent[] = [];
  const began = performance.now();
  const { title } = await extractPdf(
    pdfium,
    bytes,
    { limits, pictureSpec: spec },
    {
      block: async (block) => void blocks.push(block),
      picture: async (picture) => void pictures.push(picture),
      progress: () => undefined,
      notRead: () => undefined,
    },
  );
  const seconds = (performance.now() - began) / 1000;
  const document = pdfium.open(bytes);
  const amount = document.pageCount;
  document.close();
  return { amount, seconds, blocks, pictures, ...(title !== undefined && { title }) };
}

export async function barePictures(
  paths: readonly string[],
  limits: ExtractLimits,
  spec: PictureSpec,
): Promise<BareRun> {
  prepareSharp();
  const pictures: PictureContent[] = [];
  const began = performance.now();
  for (const path of paths) {
    const bytes = readFileSync(path);
    const type = await pictureTypeOf(bytes);
    if (type) pictures.push(await readPicture(bytes, type, limits, spec));
  }
  return { amount: pictures.length, seconds: (performance.now() - began) / 1000, blocks: [], pictures };
}

/** Frames as the server looks at them; `amount` in seconds of film. */
export async function bareMedia(paths: readonly string[], spec: PictureSpec): Promise<BareRun> {
  quietFfmpeg();
  const pictures: PictureContent[] = [];
  let amount = 0;
  const began = performance.now();
  for (const path of paths) {
    const file = new MediaFile(path, MP4);
    const shots = new ShotMerger(SHOTS_MAX, LOOK_EVERY_SECONDS);
    amount += file.duration_s;
    for (const piece of file.read({ everySeconds: LOOK_EVERY_SECONDS, keyFramesOnly: false })) {
      if (!('width' in piece)) continue;
      const digest = createHash('sha256').update(piece.data).digest();
      const times = { time_s: piece.time_s, time_end_s: piece.time_s };
      shots.push(await fromRaw({ ...piece, channels: 3 }, spec, { digest, ...times }));
    }
    pictures.push(...shots.finish());
    file.close();
  }
  return { amount, seconds: (performance.now() - began) / 1000, blocks: [], pictures };
}
