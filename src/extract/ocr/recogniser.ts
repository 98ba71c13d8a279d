import { readFile } from 'node:fs/promises';
import { FarthingError } from '../../domain/error.ts';
import { Pdfium } from '../pdf/pdfium.ts';
import { type GreyPicture, greyOfPicture } from '../picture/grey.ts';
import { prepareSharp } from '../picture/picture-source.ts';
import type { Prepare } from '../process/program.ts';
import { recognisedBlocks } from './recognised-text.ts';
import { Tesseract } from './tesseract.ts';

/**
 * Longer side of a page for OCR. On a scanned report of three pages the mean confidence was 80 at 1,300 pixels, 88 at
 * 1,700, and 89 at 2,200, which took a fifth longer.
 */
const PAGE_SIDE_PIXELS = 1700;

/** The program for OCR: reads the text that a page or picture shows. */
export const prepare: Prepare = async ({ limits, languages }) => {
  prepareSharp();
  const [pdfium, tesseract] = await Promise.all([Pdfium.load(), Tesseract.load(languages)]);
  const blank = new Uint8Array(64 * 64).fill(255);
  return {
    tryOut: async () => {
      tesseract.read(blank, 64, 64);
    },
    perform: async (task, _body, output) => {
      if (task.task !== 'recognise') throw new Error(`not a task of the recogniser: ${task.task}`);
      const bytes = await readFile(task.path);
      const isPdf = task.mediaType === 'application/pdf';
      const picture = isPdf
        ? greyPage(pdfium, bytes, task.page)
        : await greyOfPicture(bytes, task.mediaType, task.page, PAGE_SIDE_PIXELS, limits);
      const paragraphs = tesseract.read(picture.grey, picture.width, picture.height);
      const page = isPdf || task.mediaType === 'image/tiff' ? task.page : undefined;
      for (const block of recognisedBlocks(paragraphs, picture, page)) await output.block(block);
      return {};
    },
  };
};

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
