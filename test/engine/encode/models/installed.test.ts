import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { Manifest } from '../../../../src/engine/encode/models/manifest.ts';
import { openEncoder } from '../../../../src/engine/encode/open-encoder.ts';
import { familyReports } from '../../../../src/engine/search/families.ts';
import { servedLists } from '../../../../src/engine/search/lists.ts';
import { MODELS } from '../rig/embedded.ts';
import '../../../rig/teardown-order.ts';

const MINILM = 'all-MiniLM-L6-v2/model_int8.onnx';
const MOBILENET = 'mobilenet-v2/model.onnx';

/** A models folder like the embedded one, with some files left out or replaced. */
async function folderWith(
  root: string,
  { absent = [], replaced = {} }: { absent?: string[]; replaced?: Record<string, Buffer> },
): Promise<string> {
  const folder = join(root, 'models');
  const manifest = JSON.parse(await readFile(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  await mkdir(folder, { recursive: true });
  await copyFile(join(MODELS, 'manifest.json'), join(folder, 'manifest.json'));
  for (const { path } of manifest.models.flatMap(({ files }) => Object.values(files))) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    if (replaced[path]) await writeFile(join(folder, path), replaced[path]);
    else if (!absent.includes(path)) await symlink(join(MODELS, path), join(folder, path)).catch(() => {});
  }
  return folder;
}

async function open(root: string, modelsFolder: string, more: { provider?: 'cuda' } = {}) {
  const events: object[] = [];
  const encoder = await openEncoder({
    modelsFolder,
    cacheFolder: join(root, 'cache'),
    queryWorkers: 1,
    ingestWorkers: 0,
    queryQueueMax: 8,
    ingestQueueMax: 4,
    log: (event) => events.push(event),
    ...more,
  });
  t.teardown(() => encoder.close());
  return encoder;
}

t.test(
  'without the text model pictures are still found by pictures, and the reason is reported',
  async (t) => {
    const root = t.testdir();
    const encoder = await open(root, await folderWith(root, { absent: [MINILM] }));
    const [visual, text, raw] = familyReports(encoder);
    t.match(text, { available: false, reason: `${MINILM} is not installed`, words: false });
    t.match(visual, {
      available: true,
      words: false,
      pictures: true,
      reason: /words: the labels' text model: .*not installed/,
    });
    t.match(raw, { available: true });
    t.strictSame(
      encoder.spaces.map(({ name }) => name),
      ['visual_picture'],
    );
    t.strictSame(await encoder.encodeQuery('text', 'a cat', { tenant: 'x' }), {});
    t.strictSame([...servedLists(encoder).keys()].sort(), ['raw_picture', 'raw_words', 'visual_picture']);
  },
);

t.test('without the picture model text is still found', async (t) => {
  const root = t.testdir();
  const encoder = await open(root, await folderWith(root, { absent: [MOBILENET] }));
  t.match(familyReports(encoder)[0], {
    family: 'visual',
    available: false,
    reason: `${MOBILENET} is not installed`,
  });
  t.equal(encoder.pictureSpec, undefined);
  t.strictSame(Object.keys(await encoder.encodeQuery('text', 'a cat', { tenant: 'x' })), ['text_semantic']);
  t.strictSame(await encoder.encodeQuery('picture', new Uint8Array(0), { tenant: 'x' }), {});
});

t.test('a model file that was tampered with is refused with both checksums', async (t) => {
  const root = t.testdir();
  const weights = await readFile(join(MODELS, MOBILENET));
  weights[weights.length >> 1]! ^= 1;
  const encoder = await open(
    root,
    await folderWith(root, { absent: [MINILM], replaced: { [MOBILENET]: weights } }),
  );
  t.match(familyReports(encoder)[0], {
    available: false,
    reason: /model\.onnx has the SHA-256 [0-9a-f]{64}, the manifest says 1d716c36/,
  });
});

t.test('weights that the manifest knows but no runtime can open make their family unavailable', async (t) => {
  const root = t.testdir();
  const broken = Buffer.from('no model at all');
  const folder = await folderWith(root, { absent: [MINILM], replaced: { [MOBILENET]: broken } });
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const file = manifest.models[1]!.files.model!;
  Object.assign(file, { bytes: broken.length, sha256: createHash('sha256').update(broken).digest('hex') });
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const encoder = await open(root, folder);
  t.match(familyReports(encoder)[0], { available: false, pictures: false, reason: /protobuf|model/i });
});

t.test('documents are cut by words where no text model is installed', async (t) => {
  const root = t.testdir();
  const folder = await folderWith(root, { absent: [MINILM, MOBILENET] });
  const encoder = await openEncoder({
    modelsFolder: folder,
    cacheFolder: join(root, 'cache'),
    queryWorkers: 1,
    ingestWorkers: 1,
    queryQueueMax: 8,
    ingestQueueMax: 4,
    log: () => {},
  });
  t.teardown(() => encoder.close());
  const passages = await encoder.cutPassages({
    title: 'T',
    blocks: [{ text: 'One two three four five. '.repeat(100) }],
  });
  t.ok(passages.length >= 3 && passages.every(({ words }) => words.split(/\s+/).length <= 181));
});

t.test('a configured provider that cannot serve stops the start with its reason', async (t) => {
  const root = t.testdir();
  const folder = await folderWith(root, { absent: [MINILM] });
  await t.rejects(open(root, folder, { provider: 'cuda' }), {
    code: 'models_invalid',
    detail: /cuda was asked for and does not serve: .*/,
  });
});
