import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { inherited } from '../../bench/encode/counted.ts';
import { lostDevice } from '../../bench/encode/gpu-parts.ts';

const TREE = join(import.meta.dirname, '../..');
const gpu = ['/dev/nvidiactl', '/dev/dxg'].some(existsSync) || existsSync('/dev/dri');
const skip = gpu && 'this machine has a GPU';

t.test('without a GPU, "make gpu-check" says so and ends with 3', { skip }, async (t) => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/main.ts', 'gpu'], {
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

t.test(
  'a measured server finds the libraries and the GPU of its bench, and takes no setting over',
  async (t) => {
    const libraries = { LD_LIBRARY_PATH: '/libraries', CUDA_VISIBLE_DEVICES: '1', PATH: '/bin' };
    t.strictSame(inherited({ ...libraries, FACILITATOR_HEADER: 'secret', PORT: '1' }), libraries);
  },
);

t.test('with every device hidden, a new process is served by the processor', async (t) => {
  const cache = join(TREE, 'node_modules/.cache/farthing-test');
  const { served, faults } = await lostDevice(join(TREE, 'models'), cache);
  t.match(served, { answered: true, families: [{ provider: 'cpu' }, { provider: /^(native|cpu)$/ }] });
  t.strictSame(faults, []);
  const broken = await lostDevice('/nowhere', cache);
  t.match(broken.faults, [/the start failed \(1\)/]);
});

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
