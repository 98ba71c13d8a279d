/**
 * The server that a competent engineer would assemble in a day for the same job: Express, @x402/express, onnxruntime-node in a pool of threads,
 * sqlite-vec and FTS5 with reciprocal rank fusion. README.md here says how to make it better.
 * Environment: FACILITATOR, PAY_TO, MODEL (folder of the text model), DATA_DIR, TOKEN (opens /free). Prints its address as one line of JSON.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';
import { Piscina } from 'piscina';
import { PayerIndex } from './index.js';
import { PassageCutter } from './passages.js';

const { FACILITATOR, PAY_TO, MODEL, DATA_DIR, TOKEN } = process.env;
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const THREADS = availableParallelism();
const K_DEFAULT = 30;
/** Searches and uploads that may wait for the encoder; more are refused. */
const QUEUE_MAX = 256;

const encoder = new Piscina({
  filename: join(import.meta.dirname, 'encoder.js'),
  workerData: { model: MODEL },
  minThreads: THREADS,
  maxThreads: THREADS,
  maxQueue: 16 * QUEUE_MAX,
});
const cutter = new PassageCutter(MODEL);
const indexes = new Map();

function indexOf(tenant) {
  let index = indexes.get(tenant);
  if (!index) indexes.set(tenant, (index = new PayerIndex(join(DATA_DIR, `${tenant}.db`))));
  return index;
}

/** The wallet that paid; the middleware has verified the payment when a handler runs. */
function payerOf(request) {
  const payment = JSON.parse(Buffer.from(request.get('PAYMENT-SIGNATURE'), 'base64').toString());
  return payment.payload.authorization.from.toLowerCase();
}

const busy = (_request, response, next) =>
  encoder.queueSize > QUEUE_MAX ? response.status(503).set('Retry-After', '1').json({ error: 'overloaded' }) : next();

const search = (tenantOf) => async (request, response) => {
  const { query, k = K_DEFAULT } = request.body ?? {};
  if (typeof query !== 'string' || query === '' || !Number.isInteger(k) || k < 1 || k > 1000)
    return response.status(400).json({ error: 'query must be a text, k a whole number from 1 to 1000' });
  const started = performance.now();
  const vector = await encoder.run(query);
  const hits = indexOf(tenantOf(request)).search(query, vector, k);
  response.json({ hits, latency_ms: performance.now() - started });
};

const ingest = (tenantOf) => async (request, response) => {
  const bytes = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return response.status(400).json({ error: 'send a text' });
  const index = indexOf(tenantOf(request));
  const known = index.known(bytes);
  if (known) return response.json({ item: known, duplicate: true });
  const passages = cutter.cut(bytes.toString('utf8'));
  const vectors = await Promise.all(passages.map((passage) => encoder.run(passage)));
  const name = /filename\*=UTF-8''([^;]+)/.exec(request.get('content-disposition') ?? '')?.[1] ?? 'text';
  response.json({ item: index.add(decodeURIComponent(name), bytes, passages, vectors), segments: passages.length });
};

const price = (amount) => ({
  scheme: 'exact',
  network: 'eip155:8453',
  payTo: PAY_TO,
  price: { amount, asset: USDC, extra: { name: 'USD Coin', version: '2' } },
  maxTimeoutSeconds: 300,
});
const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: FACILITATOR })).register(
  'eip155:8453',
  new ExactEvmScheme(),
);
const json = express.json({ type: () => true, limit: '16mb' });
const raw = express.raw({ type: () => true, limit: '64mb' });
const withToken = (request, response, next) =>
  request.get('authorization') === `Bearer ${TOKEN}` ? next() : response.status(401).json({ error: 'unauthorized' });
const free = () => 'free';

const app = express();
app.disable('x-powered-by').disable('etag');
app.use(busy);
app.post('/free/search', withToken, json, search(free));
app.post('/free/ingest', withToken, raw, ingest(free));
app.use(
  paymentMiddleware(
    {
      'POST /search': { accepts: price('6000'), description: 'A search' },
      'POST /ingest': { accepts: price('30000'), description: 'An upload' },
    },
    resources,
  ),
);
app.post('/search', json, search(payerOf));
app.post('/ingest', raw, ingest(payerOf));

// No first request pays for loading.
await Promise.all(Array.from({ length: THREADS }, () => encoder.run('warm up')));
const server = app.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${server.address().port}` }));
});
server.keepAliveTimeout = 75_000;
// The process that started it is gone when its end of this pipe is closed.
process.stdin.on('end', () => process.exit(0)).resume();
