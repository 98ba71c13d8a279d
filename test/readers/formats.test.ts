import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { FORMATS, READABLE_TYPES } from '../../src/readers/formats.ts';
import { recordingType } from '../../src/readers/media/recordings.ts';
import { openBytes, readBytes, recognisedType, unpackBytes } from '../rig/readers.ts';
import { FORMAT_SAMPLES } from './samples/formats.ts';

t.test('each format has one line in the table; its sample is recognised as it, and read', async (t) => {
  t.equal(new Set(READABLE_TYPES).size, FORMATS.length);
  for (const { mediaType, isArchive } of FORMATS) {
    const bytes = FORMAT_SAMPLES[mediaType]!;
    t.equal(await recognisedType(bytes), mediaType, mediaType);
    if (recordingType(mediaType)) {
      t.match(await openBytes(bytes), { mediaType, kind: /video|audio/ });
    } else if (isArchive) {
      const members = await unpackBytes(bytes);
      if (mediaType === 'application/mbox') t.match(members, [{ path: '0001.eml' }, { path: '0002.eml' }]);
      else t.same(members, [{ path: 'a.txt', text: 'Words.' }], mediaType);
    } else {
      const { fileInfo, blocks, pictures } = await readBytes(bytes);
      t.equal(fileInfo.mediaType, mediaType);
      t.ok(blocks.length + pictures.length > 0, `${mediaType} gives something`);
    }
  }
});

/** Loads a module in another process and lists the packages that it loads. */
async function packagesWith(module: string): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module';
    const packages = new Set();
    const load = (url, context, next) => {
      const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
      if (name) packages.add(name);
      return next(url, context);
    };
    registerHooks({ load });
    await import(${JSON.stringify(new URL(module, import.meta.url).href)});
    console.log(JSON.stringify([...packages]));
  `;
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as string[];
}

t.test('the server loads no decoder: neither the table nor the extractor loads a package', async (t) => {
  t.same(await packagesWith('../../src/readers/formats.ts'), []);
  t.same(await packagesWith('../../src/readers/extractor.ts'), []);
  t.ok((await packagesWith('../../src/readers/reader.ts')).includes('sharp'), 'the reader does');
});
