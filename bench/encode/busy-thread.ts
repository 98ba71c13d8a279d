import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Takes numbers from one buffer to another for as long as it lives, as a program that reads and writes its memory does. */
const SPIN = `
const { parentPort } = require('node:worker_threads');
const from = new Float64Array(65536).fill(1);
const to = new Float64Array(65536);
parentPort.postMessage('busy');
for (let turn = 0; ; turn++) for (let at = 0; at < from.length; at++) to[at] = from[at] * turn + to[(at * 7) & 65535];
`;

/** Runs `work` while another thread is never idle: tells whether what runs beside it takes from it, as on two hyperthreads of one core. */
export async function besideBusyThread<T>(work: () => Promise<T>): Promise<T> {
  const busy = new Worker(SPIN, { eval: true });
  try {
    await once(busy, 'message');
    return await work();
  } finally {
    await busy.terminate();
  }
}
