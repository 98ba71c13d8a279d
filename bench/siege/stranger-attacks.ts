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
import { type Attack, repeated, type Strangers } from './strangers.ts';

const pipelined = (request: string, times: number): Attack =>
  repeated(8, 64, (strangers) => strangers.send([request.repeat(times)]));

/** The description, again and again. */
async function* askedAgain(): AsyncGenerator<string> {
  for (;;) {
    yield head('GET /openapi.json');
    await pause(REFUSED_PAUSE_MS);
  }
}

const faulty = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search', arguments: { families: Array(2 * 2 ** 18).fill({}) } },
});

/** From whom nobody knows: without a payment, or with one that no money covers. */
export const STRANGER_ATTACKS: Readonly<Record<string, Attack>> = {
  'pipelined description': pipelined(head('GET /openapi.json'), 500),
  'descriptions that nobody reads': {
    connections: 3000,
    mebibytes: 16,
    run: (strangers) => strangers.each(3000, () => strangers.send(askedAgain(), { reads: false })),
  },
  'pipelined liveness': pipelined(head('GET /healthz'), 10_000),
  'pipelined unpaid searches': pipelined(`${head('POST /agent/v1/search', length(2))}{}`, 2000),
  'MCP calls with many faults': repeated(4, 512, (strangers) => strangers.send(post('/mcp', mcp, faulty))),
  'MCP bodies that drip': repeated(60, 1024, (strangers) =>
    strangers.send(
      dripping([
        head('POST /mcp', `${mcp}${length(16 * MEBIBYTE)}`),
        ...inPieces(Buffer.alloc(15 * MEBIBYTE, ' ')),
      ]),
    ),
  ),
  'search bodies of empty wallets that drip': repeated(60, 1024, async (strangers) =>
    strangers.send(
      dripping([
        head('POST /agent/v1/search', `${await payment()}Transfer-Encoding: chunked\r\n`),
        `${(16 * MEBIBYTE).toString(16)}\r\n`,
        ...inPieces(Buffer.alloc(1000 * 1024, ' ')),
      ]),
    ),
  ),
  'uploads of empty wallets': repeated(24, 1024, async (strangers) => {
    const headers = `${await payment()}Connection: close\r\nTransfer-Encoding: chunked\r\n`;
    await strangers.send([head('POST /agent/v1/ingest', headers), ...chunks(60)]);
  }),
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
    ...repeated(1500, 64, async (strangers) => {
      const signature = `0x${randomBytes(100).toString('hex')}` as const;
      await searchUnfunded(strangers, { ...(await sign(wallet(), { value: PRICE })), signature });
    }),
    facilitatorCallsPerSecond: 250,
  },
  'empty wallets at a slow facilitator': {
    ...repeated(300, 64, async (strangers) =>
      searchUnfunded(strangers, await sign(wallet(), { value: PRICE })),
    ),
    facilitatorCallsPerSecond: 250,
  },
  'drips after a refusal': repeated(1000, 16, (strangers) =>
    strangers.send(dripping([head('POST /agent/v1/search', length(MEBIBYTE))])),
  ),
};

async function searchUnfunded(strangers: Strangers, signed: Parameters<typeof v1Header>[0]): Promise<void> {
  const paid = `X-PAYMENT: ${v1Header(signed)}\r\n`;
  await strangers.send(post('/agent/v1/search', paid, '{"query":"gulls"}'));
  await pause(REFUSED_PAUSE_MS);
}
