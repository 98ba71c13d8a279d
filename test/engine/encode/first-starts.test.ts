import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { deep, onlyDeep } from '../../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../../rig/environment.ts';
import { MODELS } from './rig/embedded.ts';

const START = join(import.meta.dirname, 'rig/first-start.ts');
const MINILM = 'all-MiniLM-L6-v2';
/** Without the setting that a run of the tests may have. */
const { FARTHING_PROVIDER: _, ...environment } = BARE_ENVIRONMENT;

/** The models in use after a start with an empty cache, and a vector. */
async function firstStart(t: Test, models: string, kernel?: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [START, models, t.testdir()], {
    env: { ...environment, ...(kernel && { FARTHING_ENCODER_KERNEL: kernel }) },
  });
  return JSON.parse(stdout) as {
    kernel: string;
    spaces: { weights: string }[];
    threads?: string[];
    vector: string;
  };
}

/** The text model alone: no label of pictures is embedded. */
async function textAlone(t: Test): Promise<string> {
  const folder = t.testdir();
  await symlink(join(MODELS, MINILM), join(folder, MINILM));
  const manifest = JSON.parse(await readFile(join(MODELS, 'manifest.json'), 'utf8'));
  manifest.use = { text_semantic: MINILM };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}

t.test(
  'every first start has the own encoder run the texts, on any processor, with the same bits',
  async (t) => {
    const models = await textAlone(t);
    const kernels = [undefined, 'scalar', ...deep([], [undefined, 'avx2'])];
    const starts: Awaited<ReturnType<typeof firstStart>>[] = [];
    for (const kernel of kernels)
      await t.test(kernel ?? 'by itself', async (t) => void starts.push(await firstStart(t, models, kernel)));
    const [first, ...others] = starts;
    t.match(first!.spaces, [{ weights: `${MINILM} (model_int8.onnx on native)` }]);
    for (const { spaces, vector, kernel } of others) {
      t.same(spaces, first!.spaces, `${kernel} fills the same space`);
      t.equal(vector, first!.vector, `${kernel} has the same bits`);
    }
    t.ok(new Set(starts.map(({ kernel }) => kernel)).size > 1, 'several kernels took part');
  },
);

t.test(
  'a first start embeds the labels of pictures on no thread of a lower priority',
  { skip: process.platform === 'linux' ? onlyDeep : 'threads of a process are listed on Linux' },
  async (t) => {
    const { threads = [] } = await firstStart(t, MODELS);
    // Linux keeps 15 characters of a name.
    t.ok(
      threads.some((name) => name.startsWith('farthing-querie')),
      threads.join(' '),
    );
    t.notOk(
      threads.some((name) => name.startsWith('farthing-passag')),
      'none for passages has started',
    );
  },
);
