import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { FORMATS, HOW_READ, READABLE_NAMES, READABLE_TYPES } from '../../src/readers/formats.ts';
import { recordingType } from '../../src/readers/media/recordings.ts';
import { describeApi } from '../../src/server/http/docs/openapi.ts';
import { openBytes, readBytes, recognisedType, unpackBytes } from '../rig/readers.ts';
import { FORMAT_SAMPLES } from './samples/formats.ts';

t.test('each format has one line in the table, and a sample', async (t) => {
  t.equal(new Set(READABLE_TYPES).size, FORMATS.length);
  t.same(Object.keys(FORMAT_SAMPLES), READABLE_TYPES, 'in the same order');
});

t.test('each sample is recognised as its own format, and read', async (t) => {
  for (const { mediaType, isArchive } of FORMATS) {
    const sample = await FORMAT_SAMPLES[mediaType]?.();
    if (sample === undefined) continue;
    const bytes = Buffer.from(sample);
    t.equal(await recognisedType(bytes), mediaType, mediaType);
    if (recordingType(mediaType)) {
      t.match(await openBytes(bytes), { mediaType, kind: /video|audio/ });
    } else if (isArchive) {
      const members = await unpackBytes(bytes);
      if (mediaType === 'application/mbox')
        t.same(
          members.map(({ path }) => path),
          ['0001.eml', '0002.eml'],
        );
      else t.same(members, [{ path: 'a.txt', text: 'Words.' }], mediaType);
    } else {
      const { fileInfo, blocks, pictures } = await readBytes(bytes);
      t.equal(fileInfo.mediaType, mediaType);
      t.ok(blocks.length + pictures.length > 0, `${mediaType} gives something`);
    }
  }
});

t.test('docs/api.md, docs/files.md and the description of an upload say what the table says', async (t) => {
  const page = (name: string) => readFileSync(`docs/${name}`, 'utf8').replace(/\s+/g, ' ');
  t.ok(page('api.md').includes(READABLE_NAMES), 'the names: make docs');
  for (const [names, how] of Object.entries(HOW_READ))
    t.ok(page('files.md').includes(`| ${names} | ${how} |`.replaceAll('  |', ' |')), `${names}: make docs`);
  const described = Object.keys(HOW_READ).join(', ').split(', ').sort();
  t.same(described, FORMATS.flatMap(({ name }) => name.split(', ')).sort(), 'each name once');
  const description = describeApi(
    [
      {
        method: 'POST',
        path: '/upload',
        operation: {
          operationId: 'upload',
          summary: 'Upload',
          tag: 'Per request',
          security: 'token',
          requestBody: 'upload',
          success: { status: 204, description: 'Done.' },
          errors: [],
        },
        handle: () => Promise.reject(new Error('only described')),
      },
    ],
    { baseUrl: 'http://localhost', notes: '', guidance: '', contact: '' },
  );
  t.match(JSON.stringify(description), READABLE_NAMES);
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
