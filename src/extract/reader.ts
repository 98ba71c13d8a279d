import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { FarthingError } from '../domain/error.ts';
import { Pdfium } from './pdf/pdfium.ts';
import { pictureTypeOf, prepareSharp, readPicture } from './picture/picture.ts';
import { renderPreview } from './picture/preview.ts';
import type { Prepare } from './process/program.ts';
import { extractFile, openFile, type Reading, unpackFile } from './read.ts';

/** Memory that PDFium has grown to and never gives back, above which a fresh process is better. */
const WORN_BYTES = 192 * 2 ** 20;

/** Text, documents and pictures: all that is read by PDFium, libvips and JavaScript. */
export const prepare: Prepare = async ({ limits, pictureSpec }) => {
  const sample = sharp({ create: { width: 16, height: 16, channels: 3, background: '#7f7f7f' } });
  const samples = await Promise.all([
    sample.clone().jpeg().toBuffer(),
    sample.clone().png().toBuffer(),
    sample.clone().webp().toBuffer(),
  ]);
  prepareSharp();
  const reading: Reading = { pdfium: await Pdfium.load(), limits, pictureSpec };
  return {
    tryOut: async () => {
      await Promise.all(samples.map((bytes) => openFile(bytes, undefined, reading)));
    },
    perform: async (task, body, output) => {
      if (task.task === 'picture') {
        const type = await pictureTypeOf(body);
        if (!type) throw new FarthingError('image_unreadable', 'It is no picture that can be read.');
        await output.picture(await readPicture(body, type, limits, pictureSpec));
        return {};
      }
      const bytes = await readFile(task.path);
      if (task.task === 'open') return { opened: await openFile(bytes, task.name, reading) };
      if (task.task === 'preview') {
        await output.preview(await renderPreview(bytes, task, reading));
        return { worn: reading.pdfium.memoryBytes > WORN_BYTES };
      }
      if (task.task === 'unpack') {
        await unpackFile(bytes, task.mediaType, reading, output.members);
        return {};
      }
      if (task.task !== 'extract') throw new Error(`no reader's task: ${task.task}`);
      const { title, textless } = await extractFile(bytes, task.mediaType, reading, output);
      return { title, textless, worn: reading.pdfium.memoryBytes > WORN_BYTES };
    },
  };
};
