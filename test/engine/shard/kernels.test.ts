import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { itemOf, open, passage, towards } from './fixtures.ts';
import '../../rig/teardown-order.ts';

const run = promisify(execFile);
const SCORES = join(import.meta.dirname, 'scores.ts');

t.test('each FARTHING_KERNEL gives the same hits and scores; an unknown one is refused', async (t) => {
  const folder = t.testdir();
  const tenants = open(folder);
  await tenants.use('ws_a', { create: true }, (shard) =>
    shard.append(
      itemOf('a', { segments: 40 }),
      Array.from({ length: 40 }, (_, at) =>
        passage('a', 'word', { vectors: { text_semantic: towards(at / 9) } }),
      ),
    ),
  );
  await tenants.close();
  const answers = (kernel: string) =>
    run(process.execPath, [SCORES, folder, 'ws_a'], { env: { FARTHING_KERNEL: kernel } });
  const refusal = await answers('abacus').then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  );
  const [, listed = ''] = /FARTHING_KERNEL is abacus; this machine has ([a-z0-9_, -]+)/.exec(refusal) ?? [];
  const kernels = listed.trim().split(', ');
  t.ok(kernels.includes('scalar'), `the machine's kernels are named: ${listed}`);
  const { stdout: expected } = await answers('');
  for (const kernel of kernels) t.equal((await answers(kernel)).stdout, expected, kernel);
});
