import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const TREE = join(import.meta.dirname, '../..');
const gpu = ['/dev/nvidiactl', '/dev/dxg'].some(existsSync) || existsSync('/dev/dri');
const skip = gpu && 'this machine has a GPU';

t.test('without a GPU, "make gpu-check" says so and ends with 3', { skip }, async (t) => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/gpu-check.ts'], {
    cwd: TREE,
    encoding: 'utf8',
  });
  t.equal(status, 3);
  t.match(stderr, /was not run: there is no NVIDIA device/);
});

t.test(
  'without an NVIDIA device, "make gpu" lays out nothing, says so and ends with 3',
  { skip },
  async (t) => {
    const { status, stderr } = spawnSync('scripts/gpu.sh', { cwd: TREE, encoding: 'utf8' });
    t.equal(status, 3);
    t.match(stderr, /no NVIDIA device/);
  },
);

t.test('every pinned GPU package has its hash, and the provider the version of the runtime', async (t) => {
  const pins = readFileSync(join(TREE, 'scripts/gpu-pins.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  t.ok(pins.length >= 7);
  for (const pin of pins) t.match(pin, /^[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}$/);
  const { dependencies } = JSON.parse(readFileSync(join(TREE, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  t.ok(pins.some((pin) => pin.startsWith(`onnxruntime-gpu==${dependencies['onnxruntime-node']} `)));
});
