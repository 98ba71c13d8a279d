import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { writeFilm } from '../../readers/samples/films.ts';
import { TestAgent } from '../../rig/test-server.ts';
import { spawnBuilt } from './built-process.ts';

/** Starts the build as `make run` does: the other tests run the sources. */
async function startBuilt(t: Test, until: string, environment: Readonly<Record<string, string>> = {}) {
  const { child, ended } = spawnBuilt(t, { LOG_LEVEL: 'warn', QUERY_WAIT_MS_MAX: '0', ...environment });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout!)) {
    lines.push(line);
    if (line.includes(until)) break;
  }
  child.stdout!.resume();
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(lines.join('\n')) ?? [];
  const stop = async () => {
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  return { url, lines, said: lines.join('\n'), stop };
}

t.test('the built server shows its round trip, reads a film, and serves the console and MCP', async (t) => {
  const { url, said, stop } = await startBuilt(t, 'Ctrl-C stops the server', {
    LOG_FORMAT: 'text',
  });
  t.match(
    said,
    /own words[^\n]*\n +0\.[5-9]\d +almanac\.pdf, page 1/,
    'found in other words, and sure of it',
  );
  t.match(said, /chelsea\.png/, 'found by a picture');
  t.notMatch(said, /\b(?:warn|error|fatal)\b/i, 'nothing went wrong on the way');

  const path = join(t.testdirName, 'gulls.mkv');
  const data = await sharp({ create: { width: 160, height: 80, channels: 3, background: '#2040c0' } })
    .jpeg()
    .toBuffer();
  writeFilm(path, 'matroska', {
    width: 160,
    height: 80,
    frames: Array.from({ length: 6 }, (_, at) => ({ ms: at * 500, data, lasts: 500 })),
    cues: [{ ms: 1000, data: Buffer.from('A gull cries over the harbour.'), lasts: 1500 }],
  });
  const workspace = await new TestAgent(url).rent();
  t.match(await workspace.ingest('gulls.mkv', new Uint8Array(readFileSync(path))), {
    body: { job: { state: 'searchable' } },
  });
  const { body } = await workspace.search({ query: 'sea birds at a port', families: ['text_semantic'] });
  t.match(body.hits[0], { item: { name: 'gulls.mkv' }, locator: { time_s: 1 } });

  const page = await fetch(url, { headers: { Accept: 'text/html' } });
  t.match(await page.text(), /<script [^>]*src="\/assets\//);
  const greeting = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }),
  });
  t.equal(greeting.status, 200);
  t.match(await greeting.text(), /"serverInfo"/);
  t.equal(await stop(), 0);
});

t.test('off a terminal the first start is a log: JSON lines with time and level, and no story', async (t) => {
  const { lines, stop } = await startBuilt(t, '"event":"ready"', { LOG_LEVEL: 'error' });
  for (const line of lines) t.match(JSON.parse(line), { level: Number, time: Number }, line);
  t.match(JSON.parse(lines.at(-1)!), { event: 'ready', level: 30, start_ms: Number, url: /^http/ });
  t.equal(await stop(), 0);
});
