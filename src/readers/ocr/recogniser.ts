import { readFile } from 'node:fs/promises';
import type { Block } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { Pdfium } from '../pdf/pdfium.ts';
import { type GreyPicture, greyOfSource } from '../picture/grey.ts';
import { secondsOf } from '../picture/picture-sequence.ts';
import { openSource, type PictureSource, prepareSharp } from '../picture/picture-source.ts';
import type { Prepare } from '../process/messages.ts';
import { isBuiltIn } from './languages.ts';
import type { PageReader } from './page-reader.ts';
import { recognisedBlocks } from './recognised-text.ts';
import { Tesseract } from './tesseract.ts';
import { TesseractPageReader } from './tesseract-page.ts';
import { TextModels } from './text-models.ts';
import { TextPageReader } from './text-page.ts';

/**
 * Longer side of a page for OCR. On a scanned report of three pages the mean confidence was 80 at 1,300 pixels, 88 at
 * 1,700, and 89 at 2,200, which took a fifth longer.
 */
const PAGE_SIDE_PIXELS = 1700;

/** The program for OCR: reads the text that a page or picture shows. */
export const prepare: Prepare = async ({ limits, languages }) => {
  prepareSharp();
  const [pdfium, reader] = await Promise.all([Pdfium.load(), pageReader(languages)]);
  const blank = { grey: new Uint8Array(64 * 64).fill(255), width: 64, height: 64 };
  return {
    tryOut: async () => {
      await reader.read(blank, () => undefined);
    },
    perform: async (task, _body, output) => {
      if (task.task !== 'recognise') throw new Error(`not a task of the recogniser: ${task.task}`);
      const bytes = await readFile(task.path);
      const isPdf = task.mediaType === 'application/pdf';
      const source = isPdf ? undefined : await openSource(bytes, task.mediaType, limits, task.page - 1);
      if (task.scene && source && !(await hasWriting(source, reader))) return {};
      const picture = source
        ? await greyOfSource(source, PAGE_SIDE_PIXELS)
        : greyPage(pdfium, bytes, task.page);
      for (const block of recognisedBlocks(await reader.read(picture, output.notRead), picture, task.scene))
        await output.block({ ...block, ...placeOf(task.page, source) });
      return {};
    },
  };
};

/** False where the reader cannot tell at a glance. */
async function hasWriting(source: PictureSource, reader: PageReader): Promise<boolean> {
  const { glanceSide } = reader;
  if (glanceSide === undefined || !reader.glance) return false;
  return reader.glance(await greyOfSource(source, glanceSide));
}

async function pageReader(languages: readonly string[]): Promise<PageReader> {
  return isBuiltIn(languages)
    ? new TextPageReader(await TextModels.load())
    : new TesseractPageReader(await Tesseract.load(languages));
}

/** A page of a PDF or of a file of pages, or when a frame of an animation is shown. */
function placeOf(page: number, source?: PictureSource): Pick<Block, 'page' | 'time_s' | 'time_end_s'> {
  if (!source) return { page };
  const { delays, frames } = source;
  if (!delays) return frames > 1 ? { page } : {};
  const [time_s, time_end_s] = [secondsOf(delays.slice(0, page - 1)), secondsOf(delays.slice(0, page))];
  return { time_s, time_end_s };
}

function greyPage(pdfium: Pdfium, bytes: Uint8Array, page: number): GreyPicture {
  const document = pdfium.open(bytes);
  try {
    const rendered = document.page(page - 1, (loaded) => loaded.render(PAGE_SIDE_PIXELS));
    if (!rendered) throw new FarthingError('file_corrupt', `Page ${page} cannot be shown.`);
    const { data, width, height } = rendered;
    const grey = new Uint8Array(width * height);
    // Luma of ITU-R BT.601, in 256ths.
    for (let at = 0; at < grey.length; at++)
      grey[at] = (data[4 * at]! * 77 + data[4 * at + 1]! * 150 + data[4 * at + 2]! * 29) >> 8;
    return { grey, width, height };
  } finally {
    document.close();
  }
}
