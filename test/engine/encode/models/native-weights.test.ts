import t from 'tap';
import { findInstalled, type Installed } from '../../../../src/engine/encode/models/installed.ts';
import { nativeSha256, withNative } from '../../../../src/engine/encode/models/native-weights.ts';
import { findPreviousModel } from '../../../../src/engine/encode/models/previous-model.ts';
import { readManifest } from '../../../../src/engine/encode/models/read-manifest.ts';
import { servedSpaces } from '../../../../src/engine/encode/models/served-spaces.ts';
import { type Towers, textTowerOf } from '../../../../src/engine/encode/models/tower.ts';
import { Verification } from '../../../../src/engine/encode/models/verification.ts';
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
      const found = await findPreviousModel(manifest, MODELS, verification, { name: role, modelSha256 });
      t.ok(found, `${role} of ${modelSha256}`);
      if (role === 'text_semantic')
        t.same(providers(found!.installed.towers)[0], [minilm(served)[0]!.provider]);
    }
  }
  const unknown = { name: 'text_semantic', modelSha256: nativeSha256('other weights') };
  t.equal(await findPreviousModel(manifest, MODELS, verification, unknown), undefined);
});
