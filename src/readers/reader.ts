import { readFile } from 'node:fs/promises';
import { FormatReaders } from './format-readers.ts';
import { prepareSharp, samplePictures } from './picture/picture-source.ts';
import type { Prepare } from './process/messages.ts';

/** The program that reads everything but recordings, with PDFium, libvips and JavaScript. */
export const prepare: Prepare = async ({ limits, pictureSpec }) => {
  const samples = await samplePictures();
  prepareSharp();
  const readers = await FormatReaders.load({ limits, pictureSpec });
  return {
    tryOut: async () => {
      await Promise.all(samples.map((bytes) => readers.open(bytes)));
    },
    perform: async (task, body, output) => {
      switch (task.task) {
        case 'open': {
          const bytes = body.length > 0 ? body : await readFile(task.path);
          return {
            ...(await readers.open(bytes, task.name, output, task.headersOnly)),
            worn: readers.worn,
          };
        }
        case 'extract': {
          const summary = await readers.read(await readFile(task.path), task, output);
          return { ...summary, worn: readers.worn };
        }
        case 'unpack':
          await readers.unpack(await readFile(task.path), task.mediaType, output.members);
          return {};
        case 'preview':
          await output.preview(await readers.preview(await readFile(task.path), task.mediaType, task));
          return { worn: readers.worn };
        default:
          throw new Error(`not a task of the reader: ${task.task}`);
      }
    },
  };
};
