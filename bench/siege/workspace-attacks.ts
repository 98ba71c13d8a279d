import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { farthing } from '../../test/server/operator/commands/farthing-command.ts';
import {
  bearer,
  dripping,
  head,
  inPieces,
  length,
  MEBIBYTE,
  mcp,
  post,
  REFUSED_PAUSE_MS,
  type Target,
} from './requests.ts';
import { type Attack, repeated, type Strangers } from './strangers.ts';

/** A job of the workspace that takes a while. @returns its path, and its item's */
async function longJob(
  { url, workspace }: Target,
  sentences = 100_000,
): Promise<{ job: string; item: string }> {
  const words = Array.from(
    { length: sentences },
    (_, index) => `Ship ${index} lies in harbour ${index % 97}.`,
  );
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

/** An upload into the workspace, whose connection ends with it. */
const upload = (strangers: Strangers, target: Target, name: string, body: Uint8Array | string) => {
  const named = `${bearer(target)}Content-Disposition: attachment; filename="${name}"\r\n`;
  return strangers.send(post(`${target.workspace.path}/ingest`, named, body));
};

const search = (strangers: Strangers, target: Target, body: Uint8Array | string) =>
  strangers.send(post(`${target.workspace.path}/search`, bearer(target), body));

const uploadsBesideBackups = repeated(8, 256, (strangers, target, number) =>
  upload(strangers, target, `${number}.txt`, `${number} ${'Ships lie in the harbour. '.repeat(10_000)}`),
);
const largeSearches = repeated(64, 256, (strangers, target, number) =>
  search(
    strangers,
    target,
    JSON.stringify({ query: `"Ship ${number}" lies in harbour`, k: 1000, explain: true }),
  ),
);

/** With the token of a workspace that costs a cent. */
export const WORKSPACE_ATTACKS: Readonly<Record<string, Attack>> = {
  'nested JSON from a cheap workspace': {
    connections: 4,
    mebibytes: 1024,
    run: (strangers, target) => {
      const body = Buffer.alloc(15 * MEBIBYTE, '[');
      return strangers.each(4, () => search(strangers, target, body));
    },
  },
  'uploads that drip into a cheap workspace': repeated(64, 1024, (strangers, target) =>
    strangers.send(
      dripping([
        head(`POST ${target.workspace.path}/ingest`, `${bearer(target)}${length(60 * MEBIBYTE)}`),
        ...inPieces(Buffer.alloc(20 * MEBIBYTE, 'word ')),
      ]),
    ),
  ),
  'slow documents in a cheap workspace': repeated(4, 256, (strangers, target, number) => {
    const names = Object.keys(SLOW_FILES);
    const name = names[number % names.length]!;
    return upload(strangers, target, name, SLOW_FILES[name]!(number));
  }),
  'uploads to a cheap workspace beside backups': {
    ...uploadsBesideBackups,
    run: async (strangers, target) => {
      const uploads = uploadsBesideBackups.run(strangers, target);
      await Promise.all([uploads, backUp(target.folder, strangers.over)]);
    },
  },
  'large searches of a cheap workspace': {
    ...largeSearches,
    run: async (strangers, target) => {
      await longJob(target, 5_000);
      await largeSearches.run(strangers, target);
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
  'new connections of a cheap workspace': repeated(512, 64, (strangers, target) =>
    strangers.send([head(`GET ${target.workspace.path}/usage`, `${bearer(target)}Connection: close\r\n`)]),
  ),
  'previews of a cheap workspace': {
    connections: 200,
    mebibytes: 64,
    run: async (strangers, target) => {
      const create = { width: 8000, height: 8000, channels: 3, background: '#2040c0' } as const;
      const picture = await sharp({ create }).png().toBuffer();
      let page = 0;
      await strangers.each(200, () => {
        page += 1;
        const other = Buffer.concat([picture, Buffer.from(String(page))]);
        return upload(strangers, target, `${page}.png`, other);
      });
    },
  },
  'MCP calls that wait, from a cheap workspace': repeated(400, 64, (strangers, target, number) => {
    const [, , , , id] = target.workspace.path.split('/');
    const text = `Words ${number}. `.repeat(1000);
    const params = { name: 'ingest', arguments: { name: `${number}.txt`, text } };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return strangers.send(post(`/mcp?workspace=${id}`, mcp + bearer(target), call));
  }),
  'nested web pages in a cheap workspace': repeated(6, 128, (strangers, target, number) =>
    upload(
      strangers,
      target,
      `${number}.html`,
      `<!doctype html><p>words ${'<div>'.repeat(1_000_000)}${number}`,
    ),
  ),
};
