import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { Manifest } from '../../../../src/engine/encode/models/manifest.ts';
import { checkManifest, readManifest } from '../../../../src/engine/encode/models/read-manifest.ts';
import { MODELS } from '../rig/embedded.ts';
import '../../../rig/teardown-order.ts';

const embedded = JSON.parse(await readFile(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;

/** The embedded manifest with a change. */
function changed(change: (manifest: Manifest) => void): unknown {
  const copy = structuredClone(embedded);
  change(copy);
  return copy;
}

t.test('the embedded manifest is valid', async (t) => {
  const manifest = await readManifest(MODELS);
  t.equal(manifest.use.text_semantic, 'all-MiniLM-L6-v2');
});

const refusals: [name: string, value: unknown, detail: RegExp][] = [
  ['an unknown key is refused with its place', { ...embedded, extra: 1 }, /\/extra/],
  ['a version of the future is refused', { ...embedded, version: 2 }, /\/version/],
  [
    'a path out of the models folder is refused',
    changed((m) => {
      m.models[0]!.files.int8!.path = '../secret';
    }),
    /files\/int8\/path/,
  ],
  [
    'a checksum that is none is refused',
    changed((m) => {
      m.models[0]!.files.int8!.sha256 = 'abc';
    }),
    /sha256/,
  ],
  [
    'a family without its model is refused',
    changed((m) => {
      m.use.visual = 'absent';
    }),
    /use\.visual/,
  ],
  [
    'weights that are not listed are refused',
    changed((m) => {
      m.models[0]!.text!.variants[0]!.file = 'fp64';
    }),
    /"fp64"/,
  ],
];

for (const [name, value, detail] of refusals) {
  t.test(name, async (t) => {
    t.throws(() => checkManifest(value), { code: 'models_invalid', detail });
  });
}

t.test('a manifest that is absent or no JSON is refused with its path', async (t) => {
  const folder = t.testdir({ broken: { 'manifest.json': '{' }, empty: {} });
  await t.rejects(readManifest(join(folder, 'broken')), {
    code: 'models_invalid',
    detail: /broken\/manifest\.json is no JSON/,
  });
  await t.rejects(readManifest(join(folder, 'empty')), { code: 'models_invalid', detail: /cannot be read/ });
});
