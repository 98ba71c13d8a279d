/** Opens the encoder of a models folder with an empty cache, and prints what serves, its threads, and a vector. */
import { readdirSync, readFileSync } from 'node:fs';
import { openEncoder } from '../../../../src/engine/encode/open-encoder.ts';
import { native } from '../../../../src/native/index.ts';

const [modelsFolder = '', cacheFolder = ''] = process.argv.slice(2);
const encoder = await openEncoder({
  modelsFolder,
  cacheFolder,
  queryWorkers: 1,
  ingestWorkers: 1,
  queryQueueMax: 1,
  ingestQueueMax: 1,
  log: () => {},
});
const { text_semantic } = await encoder.encodeQuery('text', 'a warm current in winter', { tenant: 'ws_one' });
process.stdout.write(
  JSON.stringify({
    kernel: native.encoderKernelName(),
    spaces: encoder.spaces.map(({ name, weights, modelSha256 }) => ({ name, weights, modelSha256 })),
    threads: process.platform === 'linux' ? threads() : undefined,
    vector: Buffer.from(text_semantic!.buffer).toString('hex'),
  }),
);
await encoder.close();

/** Names of this process's threads, of which Linux keeps 15 characters. */
function threads(): string[] {
  const folder = '/proc/self/task';
  return readdirSync(folder).map((thread) => readFileSync(`${folder}/${thread}/comm`, 'utf8').trim());
}
