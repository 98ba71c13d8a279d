/** Opens the encoder of a models folder with an empty cache, and prints what serves, and a vector of it. */
import { openEncoder } from '../../../src/encode/open-encoder.ts';
import { native } from '../../../src/native/index.ts';

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
    vector: Buffer.from(text_semantic!.buffer).toString('hex'),
  }),
);
await encoder.close();
