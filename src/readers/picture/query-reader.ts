import { FarthingError } from '@farthing/protocol/error';
import type { Prepare } from '../process/messages.ts';
import { pictureTypeOf } from './picture.ts';
import { readPicture } from './picture-content.ts';
import { checkPicture, prepareSharp, samplePictures } from './picture-source.ts';

/** The program that reads queries' pictures: libvips alone, in a third of the memory that the reader of all formats takes. */
export const prepare: Prepare = async ({ limits, pictureSpec }) => {
  const samples = await samplePictures();
  prepareSharp();
  return {
    tryOut: async () => {
      await Promise.all(
        samples.map(async (bytes) => readPicture(bytes, await typeOf(bytes), limits, pictureSpec)),
      );
    },
    perform: async (task, body, output) => {
      if (task.task !== 'picture') throw new Error(`not a task of the reader of queries: ${task.task}`);
      const type = await typeOf(body);
      if (task.headerOnly) await checkPicture(body, type, limits);
      else await output.picture(await readPicture(body, type, limits, task.pictureSpec ?? pictureSpec));
      return {};
    },
  };
};

async function typeOf(bytes: Uint8Array): Promise<string> {
  const type = await pictureTypeOf(bytes);
  if (!type) throw new FarthingError('image_unreadable', 'It is no picture that can be read.');
  return type;
}
