import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Library } from '../../../../src/engine/encode/models/library.ts';
import type { Manifest } from '../../../../src/engine/encode/models/manifest.ts';
import { checkManifest, readManifest } from '../../../../src/engine/encode/models/read-manifest.ts';
import { startHub } from '../../../engine/encode/models/hub.ts';
import { MODELS } from '../../../engine/encode/rig/embedded.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { runCommand } from './run-command.ts';
import '../../../rig/teardown-order.ts';

const weights = randomBytes(100_000);
const tokenizer = Buffer.from('{"tokenizer": true}');

/** `farthing admin models WORDS…` over the folder `models` in `root`. */
function commandOver(root: string, hubUrl: string) {
  const environment = environmentOf({
    MODELS_DIR: join(root, 'models'),
    CACHE_DIR: join(root, 'cache'),
    DATA_DIR: root,
    MODEL_HUB_URL: hubUrl,
  });
  return (...words: string[]) => runCommand(environment, ['models', ...words]);
}

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
  return { folder, farthing: commandOver(root, hub.url), hub };
}

t.test('a model is pulled, checked, locked, and used from then on', async (t) => {
  const { folder, farthing } = await world(t, [{ breakAfter: 30_000 }]);
  t.match(await farthing('list'), {
    status: 0,
    written: /bge-small-en-v1\.5 +text_semantic +not here[\s\S]*Not pulled or run by us yet/,
  });
  t.match(await farthing('use', 'bge-small-en-v1.5'), { status: 1, explained: /is not installed/ });
  const { status, progress } = await farthing('pull', 'bge-small-en-v1.5');
  t.equal(status, 0);
  t.ok(readFileSync(join(folder, 'bge-small-en-v1.5/model_int8.onnx')).equals(weights));
  t.ok(progress.some((line) => line.includes('100 %')));
  const lock = JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8'));
  const sha256 = createHash('sha256').update(weights).digest('hex');
  t.strictSame(lock.files['bge-small-en-v1.5/model_int8.onnx'], { sha256, bytes: weights.length });
  t.match(await farthing('use', 'bge-small-en-v1.5'), { status: 0 });
  t.equal((await readManifest(folder)).use.text_semantic, 'bge-small-en-v1.5');
  t.match(await farthing('pull', 'bge-small-en-v1.5'), { status: 0, written: /is here already/ });
});

t.test('a locked file that changed is found, refused, and brought again', async (t) => {
  const { folder, farthing } = await world(t);
  await farthing('pull', 'bge-small-en-v1.5');
  await farthing('use', 'bge-small-en-v1.5');
  const path = join(folder, 'bge-small-en-v1.5/model_int8.onnx');
  writeFileSync(
    path,
    weights.map((byte) => byte ^ 1),
  );
  t.match(await farthing('verify'), { status: 1, written: /model_int8\.onnx has the SHA-256/ });
  t.match(await farthing('pull', 'bge-small-en-v1.5'), { status: 0 });
  t.ok(readFileSync(path).equals(weights));
});

t.test('nothing is installed of a model of which one file cannot be had', async (t) => {
  const { folder, farthing } = await world(t, Array(20).fill({ breakAfter: 0 }));
  t.match(await farthing('pull', 'bge-small-en-v1.5'), { status: 1, explained: /broke off|ended after/ });
  t.notOk(existsSync(join(folder, 'bge-small-en-v1.5')));
  t.notOk(existsSync(join(folder, 'lock.json')));
});

t.test('--offline asks nobody and names the files to copy', async (t) => {
  const { farthing, hub } = await world(t);
  t.match(await farthing('pull', 'bge-small-en-v1.5', '--offline'), {
    status: 1,
    explained: /bge-small-en-v1\.5\/tokenizer\.json/,
  });
  t.strictSame(hub.requests, []);
});

/** The embedded models, and a hub of this machine with small weights for GPUs. */
async function embedded(t: Test) {
  const root = t.testdir({});
  const folder = join(root, 'models');
  mkdirSync(folder);
  symlinkSync(join(MODELS, 'mobilenet-v2'), join(folder, 'mobilenet-v2'));
  for (const name of ['all-MiniLM-L6-v2', 'silero-vad', 'whisper-base'])
    cpSync(join(MODELS, name), join(folder, name), { recursive: true });
  rmSync(join(folder, 'all-MiniLM-L6-v2/model_fp32_hub.onnx'), { force: true });
  rmSync(join(folder, 'all-MiniLM-L6-v2/model_fp32.onnx'), { force: true });
  const manifest = JSON.parse(readFileSync(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  const { files, hub } = manifest.models.find(({ name }) => name === 'all-MiniLM-L6-v2')!;
  Object.assign(files.fp32_hub!, {
    bytes: weights.length,
    sha256: createHash('sha256').update(weights).digest('hex'),
  });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(checkManifest(manifest)));
  const { url } = await startHub(t, {
    [`/${hub!.repository}/resolve/${hub!.revision}/${files.fp32_hub!.remote}`]: {
      content: weights,
      large: true,
      faults: [{ breakAfter: 30_000 }],
    },
  });
  const cache = join(root, 'cache');
  mkdirSync(cache);
  return { folder, farthing: commandOver(root, url), library: new Library(folder, cache) };
}

t.test('the weights for GPUs that the tree has not are pulled beside those that it has', async (t) => {
  const { folder, farthing, library } = await embedded(t);
  const lacking = async () => {
    const model = (await library.models()).find(({ name }) => name === 'all-MiniLM-L6-v2')!;
    t.ok(model.installed);
    return model.lacking;
  };
  t.strictSame(await lacking(), ['cuda', 'webgpu']);
  t.match(await farthing('pull', 'all-MiniLM-L6-v2'), {
    status: 0,
    written: 'all-MiniLM-L6-v2: all-MiniLM-L6-v2/model_fp32_hub.onnx\n',
  });
  t.ok(readFileSync(join(folder, 'all-MiniLM-L6-v2/model_fp32_hub.onnx')).equals(weights));
  t.strictSame(await lacking(), []);
  t.match(await farthing('pull', 'all-MiniLM-L6-v2'), { status: 0, written: /is here already/ });
});

t.test('models of voices and of speech are here only with all of their files', async (t) => {
  const { folder, farthing } = await embedded(t);
  t.match(await farthing('verify'), { status: 0 });
  t.match(await farthing('list'), { written: /whisper-base +speech +in use +MIT/ });
  const missing = ['silero-vad/model.onnx', 'whisper-base/tokens.json'];
  for (const file of missing) rmSync(join(folder, file));
  t.match(await farthing('verify'), { status: 1, written: /model\.onnx is not installed/ });
  t.match(await farthing('list'), {
    written: /silero-vad +voice +in use, and incomplete[\s\S]*whisper-base +speech +in use, and incomplete/,
  });
  for (const file of missing) {
    const [name] = file.split('/') as [string];
    t.match(await farthing('use', name), { status: 1, explained: /is not installed/ });
    t.match(await farthing('pull', name), { status: 1, explained: /cannot be pulled/ });
    t.match(await farthing('pull', name, '--offline'), { status: 1, explained: new RegExp(file) });
  }
});

t.test('verify hashes every file anew, also one whose size and time are as they were', async (t) => {
  const { folder, farthing } = await embedded(t);
  t.match(await farthing('verify'), { status: 0 });
  const path = join(folder, 'all-MiniLM-L6-v2/tokenizer.json');
  const { atime, mtime } = statSync(path);
  const bytes = readFileSync(path);
  bytes[100]! ^= 1;
  writeFileSync(path, bytes);
  utimesSync(path, atime, mtime);
  t.match(await farthing('verify'), { status: 1 });
});

t.test('a damaged lock file stops everything: hashes were locked in it', async (t) => {
  const { folder, farthing } = await world(t);
  writeFileSync(join(folder, 'lock.json'), '{"version":1');
  t.match(await farthing('list'), { status: 1, explained: /models_invalid/ });
});
