import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { sign, v1Header, wallet } from '../../test/payment/rig/payments.ts';
import {
  chunks,
  dripping,
  head,
  inPieces,
  length,
  MEBIBYTE,
  mcp,
  PRICE,
  payment,
  post,
  REFUSED_PAUSE_MS,
} from './requests.ts';
import type { Attack } from './strangers.ts';

const pipelined = (request: string, times: number): Attack => ({
  connections: 8,
  mebibytes: 64,
  run: (strangers) => strangers.each(8, () => strangers.send([request.repeat(times)])),
});

const faulty = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search', arguments: { families: Array(2 * 2 ** 18).fill({}) } },
});

/** From whom nobody knows: without a payment, or with one that no money covers. */
export const STRANGER_ATTACKS: Readonly<Record<string, Attack>> = {
  'pipelined description': pipelined(head('GET /openapi.json'), 500),
  'pipelined liveness': pipelined(head('GET /healthz'), 10_000),
  'pipelined unpaid searches': pipelined(`${head('POST /agent/v1/search', length(2))}{}`, 2000),
  'MCP calls with many faults': {
    connections: 4,
    mebibytes: 512,
    run: (strangers) => strangers.each(4, () => strangers.send(post('/mcp', mcp, faulty))),
  },
  'MCP bodies that drip': {
    connections: 60,
    mebibytes: 1024,
    run: (strangers) =>
      strangers.each(60, () =>
        strangers.send(
          dripping([
            head('POST /mcp', `${mcp}${length(16 * MEBIBYTE)}`),
            ...inPieces(Buffer.alloc(15 * MEBIBYTE, ' ')),
          ]),
        ),
      ),
  },
  'search bodies of empty wallets that drip': {
    connections: 60,
    mebibytes: 1024,
    run: (strangers) =>
      strangers.each(60, async () =>
        strangers.send(
          dripping([
            head('POST /agent/v1/search', `${await payment()}Transfer-Encoding: chunked\r\n`),
            `${(16 * MEBIBYTE).toString(16)}\r\n`,
            ...inPieces(Buffer.alloc(1000 * 1024, ' ')),
          ]),
        ),
      ),
  },
  'uploads of empty wallets': {
    connections: 24,
    mebibytes: 1024,
    run: (strangers) =>
      strangers.each(24, async () =>
        strangers.send([
          head(
            'POST /agent/v1/ingest',
            `${await payment()}Connection: close\r\nTransfer-Encoding: chunked\r\n`,
          ),
          ...chunks(60),
        ]),
      ),
  },
  'large pictures of empty wallets': {
    connections: 70,
    mebibytes: 256,
    run: async (strangers) => {
      const create = { width: 8000, height: 8000, channels: 3, background: '#2040c0' } as const;
      const picture = (await sharp({ create }).png().toBuffer()).toString('base64');
      const body = JSON.stringify({ image_b64: picture });
      await strangers.each(70, async () => strangers.send(post('/agent/v1/search', await payment(), body)));
    },
  },
  'long signatures at a slow facilitator': {
    connections: 1500,
    mebibytes: 64,
    facilitatorCallsPerSecond: 250,
    run: (strangers) =>
      strangers.each(1500, async () => {
        const signature = `0x${randomBytes(100).toString('hex')}` as const;
        const paid = `X-PAYMENT: ${v1Header({ ...(await sign(wallet(), { value: PRICE })), signature })}\r\n`;
        await strangers.send(post('/agent/v1/search', paid, '{"query":"gulls"}'));
        await pause(REFUSED_PAUSE_MS);
      }),
  },
  'empty wallets at a slow facilitator': {
    connections: 300,
    mebibytes: 64,
    facilitatorCallsPerSecond: 250,
    run: (strangers) =>
      strangers.each(300, async () => {
        const paid = `X-PAYMENT: ${v1Header(await sign(wallet(), { value: PRICE }))}\r\n`;
        await strangers.send(post('/agent/v1/search', paid, '{"query":"gulls"}'));
        await pause(REFUSED_PAUSE_MS);
      }),
  },
  'drips after a refusal': {
    connections: 1000,
    mebibytes: 16,
    run: (strangers) =>
      strangers.each(1000, () => strangers.send(dripping([head('POST /agent/v1/search', length(MEBIBYTE))]))),
  },
};
