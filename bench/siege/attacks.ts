import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { farthing } from '../../test/operator/commands/farthing-command.ts';
import { PAY_TO, sign, v1Header, wallet } from '../../test/payment/rig/payments.ts';
import {
  bearer,
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
  type Target,
} from './requests.ts';
import { Strangers } from './strangers.ts';

export interface Attack {
  /** Connections at a time. */
  readonly connections: number;
  /** Bytes that it may send, in MiB. */
  readonly mebibytes: number;
  run(strangers: Strangers, target: Target): Promise<void>;
}

/** Settings under which a new wallet can rent a workspace and cannot pay for a search or an upload. */
export const BESIEGED = {
  PAY_TO,
  LOCAL_BALANCE_USD: '0.02',
  SEARCH_PRICE_USD: '0.03',
  INGEST_PRICE_USD: '0.03',
};
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

/** A job of the workspace that takes a while. @returns its path, and its item's */
async function longJob({ url, workspace }: Target): Promise<{ job: string; item: string }> {
  const words = Array.from({ length: 100_000 }, (_, index) => `Ship ${index} lies in harbour ${index % 97}.`);
  const answer = await fetch(`${url}${workspace.path}/ingest`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${workspace.token}`,
      'Content-Disposition': 'attachment; filename="ships.txt"',
    },
    body: words.join(' '),
  });
  const { job_id, item } = (await answer.json()) as { job_id: string; item: { id: string } };
  return { job: `${workspace.path}/jobs/${job_id}`, item: `${workspace.path}/items/${item.id}` };
}

/** Slow to read for its size, each in another way; a number makes it a file of its own. */
const SLOW_FILES: Readonly<Record<string, (number: number) => string>> = {
  'slow.xml': (number) => `<?xml version="1.0"?><a>${number}${'<b/>'.repeat(2_000_000)}</a>`,
  'slow.rtf': (number) => `{\\rtf1 ${number} ${"\\'e4".repeat(2_000_000)}}`,
  'slow.eml': (number) =>
    `From: a@b.c\r\nTo: d@e.f\r\nDate: Sun, 1 Nov 2026 10:00:00 +0000\r\nSubject: ${number}\r\nMIME-Version: 1.0\r\n` +
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(700_000)}--b--\r\n`,
  'slow.md': (number) => `# ${number}\n\n${'> '.repeat(500_000)}words\n${'* a\n'.repeat(500_000)}`,
};

/** Backs the server up, once after the other, until the attack is over. */
async function backUp(folder: string, over: AbortSignal): Promise<void> {
  for (let copy = 1; !over.aborted; copy++) {
    const target = join(tmpdir(), `farthing-siege-${process.pid}-${copy}`);
    const { code, err } = await farthing(folder, ['backup', target]);
    await rm(target, { recursive: true, force: true });
    if (code !== 0 && !over.aborted) throw new Error(`a backup failed beside traffic: ${err}`);
  }
}

/** By name. Each runs until it is over, or has sent what it may. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
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
  'nested JSON from a cheap workspace': {
    connections: 4,
    mebibytes: 1024,
    run: (strangers, target) => {
      const body = Buffer.alloc(15 * MEBIBYTE, '[');
      return strangers.each(4, () =>
        strangers.send(post(`${target.workspace.path}/search`, bearer(target), body)),
      );
    },
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
  'uploads that drip into a cheap workspace': {
    connections: 64,
    mebibytes: 1024,
    run: (strangers, target) =>
      strangers.each(64, async () =>
        strangers.send(
          dripping([
            head(`POST ${target.workspace.path}/ingest`, `${bearer(target)}${length(60 * MEBIBYTE)}`),
            ...inPieces(Buffer.alloc(20 * MEBIBYTE, 'word ')),
          ]),
        ),
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
  'slow documents in a cheap workspace': {
    connections: 4,
    mebibytes: 256,
    run: async (strangers, target) => {
      let number = 0;
      const names = Object.keys(SLOW_FILES);
      await strangers.each(4, () => {
        number += 1;
        const name = names[number % names.length]!;
        const named = `${bearer(target)}Content-Disposition: attachment; filename="${name}"\r\n`;
        return strangers.send(post(`${target.workspace.path}/ingest`, named, SLOW_FILES[name]!(number)));
      });
    },
  },
  'uploads to a cheap workspace beside backups': {
    connections: 8,
    mebibytes: 256,
    run: async (strangers, target) => {
      const words = 'Ships lie in the harbour. '.repeat(10_000);
      let number = 0;
      const uploads = strangers.each(8, () => {
        number += 1;
        const named = `${bearer(target)}Content-Disposition: attachment; filename="${number}.txt"\r\n`;
        return strangers.send(post(`${target.workspace.path}/ingest`, named, `${number} ${words}`));
      });
      await Promise.all([uploads, backUp(target.folder, strangers.over)]);
    },
  },
  'event streams of a cheap workspace': {
    connections: 1000,
    mebibytes: 64,
    run: async (strangers, target) => {
      const { job } = await longJob(target);
      await strangers.each(1000, async () => {
        await strangers.send([head(`GET ${job}/events`, bearer(target))]);
        await pause(REFUSED_PAUSE_MS);
      });
    },
  },
  'downloads of a cheap workspace that nobody reads': {
    connections: 1000,
    mebibytes: 64,
    run: async (strangers, target) => {
      const { item } = await longJob(target);
      await strangers.each(1000, async () => {
        await strangers.send([head(`GET ${item}/content`, bearer(target))], { reads: false });
        await pause(REFUSED_PAUSE_MS);
      });
    },
  },
  'previews of a cheap workspace': {
    connections: 200,
    mebibytes: 64,
    run: async (strangers, target) => {
      const { width, height } = { width: 8000, height: 8000 };
      const create = { width, height, channels: 3, background: '#2040c0' } as const;
      const picture = await sharp({ create }).png().toBuffer();
      let page = 0;
      await strangers.each(200, async () => {
        page += 1;
        const other = Buffer.concat([picture, Buffer.from(String(page))]);
        const named = `${bearer(target)}Content-Disposition: attachment; filename="${page}.png"\r\n`;
        await strangers.send(post(`${target.workspace.path}/ingest`, named, other));
      });
    },
  },
  'MCP calls that wait, from a cheap workspace': {
    connections: 400,
    mebibytes: 64,
    run: async (strangers, target) => {
      const [, , , , id] = target.workspace.path.split('/');
      let number = 0;
      await strangers.each(400, () => {
        number += 1;
        const params = {
          name: 'ingest',
          arguments: { name: `${number}.txt`, text: `Words ${number}. `.repeat(1000) },
        };
        const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
        return strangers.send(post(`/mcp?workspace=${id}`, mcp + bearer(target), call));
      });
    },
  },
  'long signatures of empty wallets': {
    connections: 64,
    mebibytes: 64,
    run: (strangers) =>
      strangers.each(64, async () => {
        const signature = `0x${randomBytes(100).toString('hex')}` as const;
        const paid = `X-PAYMENT: ${v1Header({ ...(await sign(wallet(), { value: PRICE })), signature })}\r\n`;
        await strangers.send(post('/agent/v1/search', paid, '{"query":"gulls"}'));
      }),
  },
  'drips after a refusal': {
    connections: 1000,
    mebibytes: 16,
    run: (strangers) =>
      strangers.each(1000, () => strangers.send(dripping([head('POST /agent/v1/search', length(MEBIBYTE))]))),
  },
  'nested web pages in a cheap workspace': {
    connections: 6,
    mebibytes: 128,
    run: async (strangers, target) => {
      const page = Buffer.from(`<!doctype html><p>words ${'<div>'.repeat(1_000_000)}`);
      let pages = 0;
      await strangers.each(6, () => {
        pages += 1;
        const named = `${bearer(target)}Content-Disposition: attachment; filename="${pages}.html"\r\n`;
        return strangers.send(
          post(`${target.workspace.path}/ingest`, named, Buffer.concat([page, Buffer.from(`${pages}`)])),
        );
      });
    },
  },
};

/** Carries one attack out. */
export async function attack(name: string, target: Target, over: AbortSignal): Promise<void> {
  const { mebibytes, run } = ATTACKS[name]!;
  await run(new Strangers(target.url, mebibytes * MEBIBYTE, over), target);
}
