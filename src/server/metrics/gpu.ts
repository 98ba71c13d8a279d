import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Gauge, type Registry } from 'prom-client';

/** Queries to the driver, and the gauge of each. */
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
    help: 'Memory of the GPU in use by all processes.',
    factor: 2 ** 20,
  },
  { query: 'memory.total', name: 'memory_bytes', help: 'Memory of the GPU.', factor: 2 ** 20 },
] as const;
/** A hanging driver must not hold up a scrape. */
const DEADLINE_MS = 2_000;

/**
 * Adds the gauges `farthing_gpu_*` with one series for each GPU, read at each scrape; none without the driver's program.
 * @param command path of `nvidia-smi`
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
  // All fields of a scrape share one call.
  let pending: Promise<number[][]> | undefined;
  const once = () => {
    pending ??= ask()
      .catch(() => [])
      .finally(() => {
        pending = undefined;
      });
    return pending;
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
          // A GPU answers in words for a field that it does not have.
          if (Number.isFinite(value)) this.set({ gpu: String(gpu) }, value);
        }
      },
    });
  }
}
