import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchWorkspace, startServer } from '../rig/agent.ts';
import { whereOf } from '../sets/where.js';

/**
 * Every file of samples/ and of the larger samples, where they are, sent to a server: what it was recognised as, its Segments, the
 * locators of its hits, the time until it was searchable; or the code with which it was refused.
 */
const FOLDERS = [
  'samples',
  ...['pdf', 'office', 'image', 'audio', 'video'].flatMap((kind) => whereOf(`samples/${kind}`) ?? []),
];
const NAME_LENGTH_MAX = 44;

interface Hit {
  readonly locator: Record<string, unknown>;
  readonly family: string;
  readonly text_source?: string;
}

interface Ingested {
  readonly code?: string;
  readonly item?: { readonly media_type: string; readonly segments: number; readonly families: string[] };
  readonly job?: { readonly state: string; readonly error?: { readonly code: string } };
}

const server = await startServer({ PREFER_WAIT_SECONDS_MAX: '600' });
console.log(row(['file', 'recognised as', 'segments', 'seconds', 'locators']));
try {
  for (const folder of FOLDERS) {
    for (const name of readdirSync(folder).sort()) {
      if (/\.\w{2,4}$/.test(name) && !/\.ts$/.test(name))
        console.log(row(await sample(join(folder, name), name)));
    }
  }
} finally {
  await server.stop();
}

async function sample(path: string, name: string): Promise<string[]> {
  const workspace = await BenchWorkspace.rent(server.url, 60);
  const began = performance.now();
  const response = await fetch(`${workspace.url}/ingest`, {
    method: 'POST',
    headers: {
      ...workspace.headers,
      Prefer: 'wait=600',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    },
    body: readFileSync(path),
  });
  const { code, item, job } = (await response.json()) as Ingested;
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  const refused = code ?? job?.error?.code;
  if (refused !== undefined || !item) return [name, refused ?? 'no answer', '–', seconds, '–'];
  const found = await workspace.search({ query: name.replace(/[\W_]+/g, ' '), k: 1000 });
  const hits = found.hits as unknown as Hit[];
  return [name, item.media_type, String(item.segments), seconds, locatorsOf(hits)];
}

/** Properties of the hits' locators, with the least and greatest value. */
function locatorsOf(hits: readonly Hit[]): string {
  const parts: string[] = [];
  for (const key of ['page', 'time_s'] as const) {
    const values = hits.flatMap(({ locator }) => (typeof locator[key] === 'number' ? [locator[key]] : []));
    if (values.length === 0) continue;
    const kind = hits.find(({ locator }) => locator.page_kind)?.locator.page_kind;
    const what = key === 'page' && typeof kind === 'string' ? kind : key;
    parts.push(`${what} ${Math.min(...values)}–${Math.max(...values)}`);
  }
  for (const key of ['box', 'heading', 'char_start'])
    if (hits.some(({ locator }) => locator[key] !== undefined)) parts.push(key);
  const sources = new Set(hits.flatMap(({ text_source }) => (text_source ? [text_source] : [])));
  if (sources.size > 0) parts.push(`text: ${[...sources].join(', ')}`);
  return parts.join(', ') || 'the file';
}

function row([name = '', type = '', segments = '', seconds = '', locators = '']: readonly string[]): string {
  const short = type.replace(/^application\/vnd\.(openxmlformats-officedocument|oasis\.opendocument)\./, '…');
  return `${name.slice(0, NAME_LENGTH_MAX).padEnd(NAME_LENGTH_MAX + 1)} ${short.padEnd(32)} ${segments.padStart(8)} ${seconds.padStart(8)}  ${locators}`;
}
