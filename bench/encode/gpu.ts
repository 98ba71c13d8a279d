import { join, resolve } from 'node:path';
import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { deviceRefusal } from '../../src/engine/encode/models/device.ts';
import { Library } from '../../src/engine/encode/models/library.ts';
import type { Engine } from '../../src/engine/encode/models/manifest.ts';
import { lacksOf } from '../../src/engine/encode/models/readiness.ts';
import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { familyReports } from '../../src/engine/search/families.ts';
import { quantile } from '../rig/agent.ts';
import { clientsThroughServer } from './gpu-clients.ts';
import { cosine, lostDevice, sentences } from './gpu-parts.ts';

/**
 * Gain from a GPU: parity with the processor, throughput over batches and lengths, latency
 * of 1, 16 and 256 clients through the whole server, memory, and what happens when the device is lost. Without a GPU it says
 * so and ends with 3; without the provider's library or weights it names the commands that bring them.
 */

const MODELS = resolve(import.meta.dirname, '../../models');
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/farthing-gpu');
/** Least cosine between vectors of the GPU and of the same weights on the processor. */
const PARITY_MIN = 0.999;
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const WORDS = [6, 24, 96, 190];
const CLIENTS = [1, 16, 256];
const UPLOAD = { passages: 1024, words: 190 };

function open(provider: 'auto' | Engine): Promise<Encoder> {
  return openEncoder({
    modelsFolder: MODELS,
    cacheFolder: CACHE,
    queryQueueMax: 4096,
    ingestQueueMax: 4096,
    provider,
    log: (event) => console.log(JSON.stringify(event)),
  });
}

const missing = (['cuda', 'webgpu'] as const).map((provider) => deviceRefusal(provider, 'auto'));
if (missing.every((reason) => reason !== undefined)) {
  console.error(
    `gpu-check was not run: ${missing[0]}. It needs an NVIDIA driver (see "make gpu") or a Vulkan device.`,
  );
  process.exit(3);
}

const provider = (process.env.PROVIDER || (missing[0] === undefined ? 'cuda' : 'webgpu')) as
  | 'cuda'
  | 'webgpu';
const lacks = lacksOf(provider, await new Library(MODELS, CACHE).models());
if (lacks.length > 0) {
  for (const { what, command } of lacks) console.error(`${what}. Run: ${command}`);
  process.exit(1);
}
const encoder = await open(provider).catch((error: Error) => {
  console.error(`${provider} does not serve: ${error.message}`);
  process.exit(1);
});
export const facts: Record<string, unknown> = { provider, families: familyReports(encoder) };
const faults: string[] = [];
const options = { tenant: 'gpu-check' };

const texts = sentences(64, 40);
const onGpu = (await encoder.encodeIngest('text', texts, options)).text_semantic!;
const processor = await open('cpu');
const onCpu = (await processor.encodeIngest('text', texts, options)).text_semantic!;
await processor.close();
const cosines = onGpu.map((vector, index) => cosine(vector, onCpu[index]!));
// The processor runs int8 weights: their agreement is only reported; judged is that of the same weights, at the start's probe.
facts.cosine_to_int8_on_processor = {
  mean: cosines.reduce((a, b) => a + b, 0) / cosines.length,
  least: Math.min(...cosines),
};
facts.parity_of_same_weights = `at least ${PARITY_MIN}: the provider is refused at the start otherwise`;

facts.throughput = [];
for (const words of WORDS) {
  for (const batch of BATCHES) {
    const inputs = sentences(batch, words);
    await encoder.encodeIngest('text', inputs, options);
    const times: number[] = [];
    for (let run = 0; run < 10; run++) {
      const started = performance.now();
      await encoder.encodeIngest('text', inputs, options);
      times.push(performance.now() - started);
    }
    const ms = quantile(times, 0.5);
    (facts.throughput as object[]).push({ words, batch, ms, passages_per_second: (1000 * batch) / ms });
  }
}
facts.memory = process.memoryUsage();
await encoder.close();

// Uploads are the use of a GPU. A search's time is the event loop's and the launches of the model's kernels, on any GPU.
const upload = sentences(UPLOAD.passages, UPLOAD.words);
const uploads: Record<string, number> = {};
for (const engine of [provider, 'native'] as const) {
  const filling = await open(engine);
  // The first uploads pay for each worker's first runs of each shape.
  for (let run = 0; run < 2; run++) await filling.encodeIngest('text', upload, options);
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    const started = performance.now();
    await filling.encodeIngest('text', upload, options);
    times.push(performance.now() - started);
  }
  await filling.close();
  uploads[engine] = (1000 * upload.length) / quantile(times, 0.5);
}
facts.upload_passages_per_second = uploads;
if (uploads[provider]! <= uploads.native!)
  faults.push(
    `uploads: ${uploads[provider]!.toFixed(0)} passages/s on ${provider}, ${uploads.native!.toFixed(0)} on the processor`,
  );
facts.clients = await clientsThroughServer(provider, CLIENTS);
facts.clients_on_processor = await clientsThroughServer('native', CLIENTS);

const lost = await lostDevice(MODELS, CACHE);
facts.lost_device = lost.served;
faults.push(...lost.faults);
facts.faults = faults;
for (const fault of faults) console.log(`missed: ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;
