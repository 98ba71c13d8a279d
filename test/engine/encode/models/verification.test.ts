import { createHash } from 'node:crypto';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Verification } from '../../../../src/engine/encode/models/verification.ts';
import '../../../rig/teardown-order.ts';

const file = { path: 'weights.onnx', bytes: 7, sha256: createHash('sha256').update('weights').digest('hex') };

t.test(
  'a file that is what the manifest says is accepted, and not hashed again at the next start',
  async (t) => {
    const folder = t.testdir({ models: { 'weights.onnx': 'weights' } });
    const [models, cache] = [join(folder, 'models'), join(folder, 'cache')];
    const path = join(models, 'weights.onnx');
    await utimes(path, 1e9, 1e9);
    const first = await Verification.open(models, cache);
    t.equal(await first.refusal(file), undefined);
    await first.save();
    // Other bytes of the same size and time: only a second hash shows the difference.
    await writeFile(path, 'weighty');
    await utimes(path, 1e9, 1e9);
    t.equal(await (await Verification.open(models, cache)).refusal(file), undefined);
  },
);

t.test('a file that was changed is refused with both checksums', async (t) => {
  const folder = t.testdir({ 'weights.onnx': 'weighty' });
  const verification = await Verification.open(folder, join(folder, 'cache'));
  t.match(
    await verification.refusal(file),
    new RegExp(`SHA-256 [0-9a-f]{64}, the manifest says ${file.sha256}`),
  );
});

t.test('a file of another size and an absent one are refused without being read', async (t) => {
  const folder = t.testdir({ 'weights.onnx': 'weights and more' });
  const verification = await Verification.open(folder, join(folder, 'cache'));
  t.match(await verification.refusal(file), /16 bytes, the manifest says 7/);
  t.match(await verification.refusal({ ...file, path: 'absent.onnx' }), /absent\.onnx is not installed/);
});

t.test('a damaged cache counts as empty', async (t) => {
  const folder = t.testdir({ 'weights.onnx': 'weights', cache: { 'verified.json': '{"x":' } });
  const verification = await Verification.open(folder, join(folder, 'cache'));
  t.equal(await verification.refusal(file), undefined);
  await verification.save();
  t.match(JSON.parse(await readFile(join(folder, 'cache/verified.json'), 'utf8')), {
    [join(folder, 'weights.onnx')]: { bytes: 7 },
  });
});
