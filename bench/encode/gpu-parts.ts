import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const WORDS =
  'the a tide engine river cell protein bond lamp city keeper gull dawn storm wheel carbon valley court'.split(
    ' ',
  );

/** Different texts of so many words, the same in each run. */
export function sentences(count: number, words: number): string[] {
  return Array.from({ length: count }, (_, text) =>
    Array.from(
      { length: words },
      (_, word) => WORDS[(text * 7 + word * (text + 3) + (word >> 2)) % WORDS.length],
    ).join(' '),
  );
}

/** Cosine of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

export interface LostDevice {
  readonly answered: boolean;
  readonly families: readonly { readonly family: string; readonly provider: string }[];
}

/**
 * A device cannot be pulled out here: with all of them hidden from a new process, the processor must serve.
 * @returns the runtimes that served, and their faults
 */
export async function lostDevice(
  modelsFolder: string,
  cacheFolder: string,
): Promise<{ served?: LostDevice; faults: string[] }> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'lost-device.ts'), modelsFolder, cacheFolder],
    // CUDA's devices, and Vulkan's by its drivers.
    { env: { ...process.env, CUDA_VISIBLE_DEVICES: '-1', VK_DRIVER_FILES: '/dev/null' } },
  );
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (code !== 0)
    return { faults: [`without a device the start failed (${code}): ${err.trim().slice(-500)}`] };
  const served = JSON.parse(out) as LostDevice;
  const faults = served.families
    .filter(({ provider }) => provider !== 'cpu' && provider !== 'native')
    .map(({ family, provider }) => `without a device ${family} is still served by ${provider}`);
  if (!served.answered) faults.push('without a device no query is answered');
  return { served, faults };
}
