import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { FarthingError } from '../domain/error.ts';
import { pictureTypeOf } from './picture/picture.ts';
import { readPicture } from './picture/picture-content.ts';
import { checkPicture, prepareSharp } from './picture/picture-source.ts';
import type { Prepare } from './process/program.ts';
import { Readers } from './read.ts';

/** The program that reads everything but recordings, with PDFium, libvips and JavaScript. */
export const prepare: Prepare = async ({ limits, pictureSpec }) => {
  const sample = sharp({ create: { width: 16, height: 16, channels: 3, background: '#7f7f7f' } });
  const samples = await Promise.all([
    sample.clone().jpeg().toBuffer(),
    sample.clone().png().toBuffer(),
    sample.clone().webp().toBuffer(),
  ]);
  prepareSharp();
  const readers = await Readers.load({ limits, pictureSpec });
  return {
    tryOut: async () => {
      await Promise.all(samples.map((bytes) => readers.open(bytes)));
    },
    perform: async (task, body, output) => {
      switch (task.task) {
        case 'picture': {
          const type = await pictureTypeOf(body);
          if (!type) throw new FarthingError('image_unreadable', 'It is no picture that can be read.');
          if (task.headerOnly) await checkPicture(body, type, limits);
          else await output.picture(await readPicture(body, type, limits, task.pictureSpec ?? pictureSpec));
          return {};
        }
        case 'open':
          return {
            ...(await readers.open(await readFile(task.path), task.name, output, task.headersOnly)),
            worn: readers.worn,
          };
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
