import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { findInstalled, type Installed } from '../../../src/encode/models/installed.ts';
import {
  comparisonsOf,
  readComparisons,
  saveComparisons,
  withComparisons,
} from '../../../src/encode/models/kept-comparisons.ts';
import { nativeSha256, withNative } from '../../../src/encode/models/native-weights.ts';
import { findPreviousModel } from '../../../src/encode/models/previous-model.ts';
import { readManifest } from '../../../src/encode/models/read-manifest.ts';
import { servedSpaces } from '../../../src/encode/models/served-spaces.ts';
import { type Towers, textTowerOf } from '../../../src/encode/models/tower.ts';
import { Verification } from '../../../src/encode/models/verification.ts';
import { CACHE, MODELS } from '../rig/embedded.ts';

const MINILM = 'all-MiniLM-L6-v2';

async function installed(): Promise<Installed> {
  const verification = await Verification.open(MODELS, CACHE);
  return findInstalled(await readManifest(MODELS), MODELS, verification, 'cpu');
}

const providers = (towers: Towers) =>
  towers.map(({ candidates }) => candidates.map(({ provider }) => provider));
const minilm = (towers: Towers) => textTowerOf(towers, MINILM)!.candidates;

t.test('texts may go to the native encoder, as the operator chooses; pictures stay', async (t) => {
  const { towers } = await installed();
  t.same(providers(withNative(towers, 'auto')), [['native', 'cpu'], ['cpu']]);
  t.same(providers(withNative(towers, 'native')), [['native'], ['cpu']]);
  for (const choice of ['cpu', 'cuda', 'webgpu'] as const)
    t.same(providers(withNative(towers, choice)), [['cpu'], ['cpu']]);
});

t.test('its arithmetic is part of the identity of a space', async (t) => {
  const { towers } = await installed();
  const manifest = await readManifest(MODELS);
  const identities = (of: Towers) =>
    servedSpaces(manifest, of).map(({ name, modelSha256 }) => [name, modelSha256]);
  const [runtime, own] = [
    Object.fromEntries(identities(towers)),
    Object.fromEntries(identities(withNative(towers, 'native'))),
  ];
  t.equal(own.text_semantic, nativeSha256(runtime.text_semantic!));
  t.not(own.visual_words, runtime.visual_words);
  t.equal(own.visual_picture, runtime.visual_picture);
});

t.test('the model that filled a space comes back with its arithmetic', async (t) => {
  const [manifest, verification] = [await readManifest(MODELS), await Verification.open(MODELS, CACHE)];
  const { towers } = await installed();
  for (const served of [towers, withNative(towers, 'native')]) {
    for (const { name: role, modelSha256 } of servedSpaces(manifest, served)) {
      const found = await findPreviousModel(manifest, MODELS, verification, { role, modelSha256 });
      t.ok(found, `${role} of ${modelSha256}`);
      if (role === 'text_semantic')
        t.same(providers(found!.installed.towers)[0], [minilm(served)[0]!.provider]);
    }
  }
  const unknown = { role: 'text_semantic', modelSha256: nativeSha256('other weights') };
  t.equal(await findPreviousModel(manifest, MODELS, verification, unknown), undefined);
});

t.test('a comparison is made once for each machine, model and version', async (t) => {
  const folder = t.testdir();
  t.same(await readComparisons(folder), {});
  const both = withNative((await installed()).towers, 'auto');
  const chosen = both.map((tower) => ({ ...tower, candidates: [tower.candidates[0]!] }));
  const slower = [{ model: MINILM, provider: 'cpu', reason: 'slower' }];
  const found = comparisonsOf(both, { towers: chosen, rejected: [], slower });
  t.match(Object.values(found), [{ serves: 'native', reason: 'slower' }]);
  await saveComparisons(folder, {}, found);
  const kept = await readComparisons(folder);
  t.same(kept, found);
  t.same(providers(withComparisons(both, kept)), [['native'], ['cpu']]);
  t.same(comparisonsOf(withComparisons(both, kept), { towers: chosen, rejected: [], slower }), {});

  const otherWeights = both.map((tower) => ({
    ...tower,
    candidates: tower.candidates.map((candidate) => ({ ...candidate, sha256: `other ${candidate.sha256}` })),
  }));
  t.same(providers(withComparisons(otherWeights, kept)), [['native', 'cpu'], ['cpu']]);

  const path = join(folder, 'processor-comparisons.json');
  await writeFile(path, (await readFile(path, 'utf8')).slice(1));
  t.same(await readComparisons(folder), {}, 'a damaged file');
});
