import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Gauge, type Registry } from 'prom-client';

/** What the driver is asked, and how its answer becomes a gauge. */
const FIELDS = [
  {
    query: 'utilization.gpu',
    name: 'utilization',
    help: 'Share of the time that a kernel ran on the GPU.',
    factor: 0.01,
  },
  {
    query: 'memory.used',
    name: 'memory_used_bytes',
    help: 'Memory of the GPU in use, by anybody.',
    factor: 2 ** 20,
  },
  { query: 'memory.total', name: 'memory_bytes', help: 'Memory of the GPU.', factor: 2 ** 20 },
] as const;
/** A driver that hangs must not hold up a scrape. */
const DEADLINE_MS = 2_000;

/**
 * Gauges `farthing_gpu_*` with one series for each GPU, read at each scrape; none where the driver's own program is not there.
 * @param command `nvidia-smi`, or what stands in for it
 */
export async function readGpuGauges(registry: Registry, command = 'nvidia-smi'): Promise<void> {
  const ask = async () => {
    const args = [`--query-gpu=${FIELDS.map(({ query }) => query).join()}`, '--format=csv,noheader,nounits'];
    const { stdout } = await promisify(execFile)(command, args, { timeout: DEADLINE_MS });
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.split(',').map(Number));
  };
  const isThere = await ask()
    .then((rows) => rows.every((row) => row.length === FIELDS.length))
    .catch(() => false);
  if (!isThere) return;
  // The fields of one scrape are asked for together.
  let asked: Promise<number[][]> | undefined;
  const once = () => {
    asked ??= ask()
      .catch(() => [])
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
  for (const [column, { name, help, factor }] of FIELDS.entries()) {
    new Gauge({
      name: `farthing_gpu_${name}`,
      help,
      labelNames: ['gpu'],
      registers: [registry],
      async collect() {
        this.reset();
        for (const [gpu, row] of (await once()).entries()) {
          const value = row[column]! * factor;
          // A field that a GPU does not have is told in words.
          if (Number.isFinite(value)) this.set({ gpu: String(gpu) }, value);
        }
      },
    });
  }
}
