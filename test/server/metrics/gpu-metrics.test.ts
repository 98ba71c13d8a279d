import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import t from 'tap';
import { readGpuGauges } from '../../../src/server/metrics/gpu.ts';

t.test('where there is a GPU, its use and memory are gauges (a stand-in for nvidia-smi)', async (t) => {
  const command = join(t.testdir({}), 'stand-in-for-nvidia-smi');
  writeFileSync(command, '#!/bin/sh\necho "37, 1024, 143771"\necho "[N/A], 0, 143771"\n');
  chmodSync(command, 0o755);
  const registry = new Registry();
  await readGpuGauges(registry, command);
  const text = await registry.metrics();
  t.match(text, 'farthing_gpu_utilization{gpu="0"} 0.37');
  t.notMatch(text, 'farthing_gpu_utilization{gpu="1"}', 'what a GPU does not tell is left out');
  t.match(text, `farthing_gpu_memory_used_bytes{gpu="0"} ${2 ** 30}`);
  writeFileSync(command, '#!/bin/sh\nexit 9\n');
  t.notMatch(await registry.metrics(), /^farthing_gpu_\w+\{/m, 'a lost driver gives no old figures');
});

t.test('where there is none, there are none', async (t) => {
  const registry = new Registry();
  await readGpuGauges(registry, '/nonexistent/nvidia-smi');
  t.equal((await registry.metrics()).trim(), '');
});
