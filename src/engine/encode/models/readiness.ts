import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { LibraryModel } from './library.ts';
import type { Provider } from './manifest.ts';

/** Something that a provider needs besides its device, and that is missing. */
export interface Lack {
  readonly what: string;
  /** The command that installs it. */
  readonly command: string;
}

/** Where ONNX Runtime looks for CUDA's provider: beside its binding. WebGPU's is part of the runtime. */
export function cudaLibrary(): string {
  const runtime = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  const folder = join(runtime, 'bin/napi-v6', process.platform, process.arch);
  return join(folder, 'libonnxruntime_providers_cuda.so');
}

/** Missing prerequisites of a provider whose device is present. */
export function lacksOf(
  provider: Provider,
  models: readonly Pick<LibraryModel, 'name' | 'used' | 'lacking'>[],
  library = cudaLibrary(),
): Lack[] {
  const lacks: Lack[] = [];
  // `existsSync` follows links, which `make gpu` creates.
  if (provider === 'cuda' && !existsSync(library))
    lacks.push({ what: `${library} is not here`, command: 'make gpu' });
  for (const { name, used, lacking } of models)
    if (used && lacking.includes(provider))
      lacks.push({
        what: `the weights of ${name} for ${provider} are not here`,
        command: `npx farthing admin models pull ${name}`,
      });
  return lacks;
}
