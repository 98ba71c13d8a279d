import { parentPort } from 'node:worker_threads';
import type { ApartMessage } from './exchange-apart.ts';
import { exchange } from './json-http.ts';

/** A thread that makes exchanges for another: see `exchangeApart`. */

parentPort!.on('message', async ({ number, asked }: ApartMessage) => {
  parentPort!.postMessage({ number, told: await exchange(asked) });
});
