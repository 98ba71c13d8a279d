import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { checkManifest, type Manifest, readManifest } from '../../src/encode/manifest.ts';
import { bar, modelsCommand } from '../../src/main/models.ts';
import { MODELS } from '../encode/embedded.ts';
import { startHub } from '../encode/hub.ts';
import '../teardown-order.ts';

const weights = randomBytes(100_000);
const tokenizer = Buffer.from('{"tokenizer": true}');

/** The embedded manifest whose files are absent, and a hub that has the files of `bge-small-en-v1.5`. */
async function world(t: Test, faults: { breakAfter: number }[] = []) {
  const root = t.testdir({});
  const folder = join(root, 'models');
  mkdirSync(folder);
  const manifest = JSON.parse(readFileSync(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  const bge = manifest.models.find(({ name }) => name === 'bge-small-en-v1.5')!;
  bge.text!.variants = bge.text!.variants.filter(({ providers }) => providers.includes('cpu'));
  delete bge.files.fp16;
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(checkManifest(manifest)));
  const at = `/${bge.hub!.repository}/resolve/main`;
  const hub = await startHub(t, {
    [`${at}/onnx/model_quantized.onnx`]: { content: weights, large: true, faults },
    [`${at}/tokenizer.json`]: { content: tokenizer },
  });
  const settings = {
    MODELS_DIR: folder,
    CACHE_DIR: join(root, 'cache'),
    DATA_DIR: root,
    MODEL_HUB_URL: hub.url,
  };
  const lines: string[] = [];
  const bars: string[] = [];
  const farthing = (...words: string[]) =>
    modelsCommand(words, settings, {
      write: (line) => lines.push(line),
      progress: (line) => bars.push(line),
      pause: async () => {},
    });
  return { folder, farthing, lines, bars, hub };
}

t.test('a model is pulled, checked, locked, and used from then on', async (t) => {
  const { folder, farthing, lines, bars } = await world(t, [{ breakAfter: 30_000 }]);
  t.equal(await farthing('list'), 0);
  t.match(lines.join('\n'), /bge-small-en-v1\.5 +text_semantic +not here/);
  t.match(lines.join('\n'), /Not pulled or run by us yet/);
  await t.rejects(farthing('use', 'bge-small-en-v1.5'), /is not installed/);
  t.equal(await farthing('pull', 'bge-small-en-v1.5'), 0);
  t.ok(readFileSync(join(folder, 'bge-small-en-v1.5/model_int8.onnx')).equals(weights));
  t.ok(bars.some((line) => line.includes('100 %')));
  const lock = JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8'));
  const sha256 = createHash('sha256').update(weights).digest('hex');
  t.strictSame(lock.files['bge-small-en-v1.5/model_int8.onnx'], { sha256, bytes: weights.length });
  t.equal(await farthing('use', 'bge-small-en-v1.5'), 0);
  t.equal((await readManifest(folder)).use.text_semantic, 'bge-small-en-v1.5');
  t.equal(await farthing('pull', 'bge-small-en-v1.5'), 0);
  t.match(lines.at(-1), /is here already/);
});

t.test('a locked file that changed is found, refused, and brought again', async (t) => {
  const { folder, farthing, lines } = await world(t);
  await farthing('pull', 'bge-small-en-v1.5');
  await farthing('use', 'bge-small-en-v1.5');
  const path = join(folder, 'bge-small-en-v1.5/model_int8.onnx');
  writeFileSync(
    path,
    weights.map((byte) => byte ^ 1),
  );
  t.equal(await farthing('verify'), 1);
  t.match(lines.join('\n'), /model_int8\.onnx has the SHA-256/);
  t.equal(await farthing('pull', 'bge-small-en-v1.5'), 0);
  t.ok(readFileSync(path).equals(weights));
});

t.test('nothing is installed of a model of which one file cannot be had', async (t) => {
  const { folder, farthing } = await world(t, Array(20).fill({ breakAfter: 0 }));
  await t.rejects(farthing('pull', 'bge-small-en-v1.5'), /broke off|ended after/);
  t.notOk(existsSync(join(folder, 'bge-small-en-v1.5')));
  t.notOk(existsSync(join(folder, 'lock.json')));
});

t.test('--offline asks nobody and names the files to copy', async (t) => {
  const { farthing, hub } = await world(t);
  await t.rejects(farthing('pull', 'bge-small-en-v1.5', '--offline'), /bge-small-en-v1\.5\/tokenizer\.json/);
  t.strictSame(hub.asked, []);
});

t.test('models that are unknown, or made elsewhere, are refused with what there is', async (t) => {
  const { farthing, lines } = await world(t);
  await t.rejects(farthing('pull', 'nothing'), /There are: all-MiniLM-L6-v2/);
  await t.rejects(farthing('pull', 'all-MiniLM-L6-v2'), /cannot be pulled/);
  t.equal(await farthing('pull'), 2);
  t.match(lines.at(-1), /models pull NAME/);
});

t.test('a damaged lock file stops everything: hashes were locked in it', async (t) => {
  const { folder, farthing } = await world(t);
  writeFileSync(join(folder, 'lock.json'), '{"version":1');
  await t.rejects(farthing('list'), { code: 'models_invalid' });
});

t.test('a bar shows the share, and without a length the megabytes', async (t) => {
  t.equal(bar('a', 500_000, 1_000_000), `a  ${'█'.repeat(15)}${'░'.repeat(15)} 50 %  0.5 of 1.0 MB`);
  t.equal(bar('a', 500_000, undefined), 'a  0.5 MB');
});
