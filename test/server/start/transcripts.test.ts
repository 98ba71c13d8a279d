import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { RECORDING, SENTENCE, withoutRecording } from '../../engine/encode/rig/recording.ts';
import { eventually } from '../../rig/eventually.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

/** A recording of a human voice, from the upload to a sentence at its second. */
t.test('what is said in a recording is found at its second', { skip: withoutRecording }, async (t) => {
  const server = await startTestServer(t, {});
  const workspace = await new TestAgent(server.url).rent({ ttl_minutes: 20 });
  const { id } = (await workspace.ingest('talk.flac', new Uint8Array(readFileSync(RECORDING)))).body.item;
  const item = async () => (await workspace.send('GET', `/items/${id}`)).body;
  await eventually(async () => (await item()).state !== 'pending');
  t.match(await item(), { state: 'searchable', speech: [{ time_s: Number }], not_searchable: undefined });

  await t.test('over HTTP, with its source and how sure the model was', async (t) => {
    const { body } = await workspace.search({ query: SENTENCE.words });
    const [hit] = body.hits;
    t.match(hit, { item: { id }, text_source: 'speech', snippet: /ask what you can do for your country/i });
    t.ok(hit.speech_confidence > 0.7 && hit.speech_confidence <= 1, `${hit.speech_confidence} sure`);
    const moments = [hit.locator, ...(hit.moments ?? [])].map(({ time_s }) => time_s);
    t.ok(
      moments.some((second) => second >= SENTENCE.from && second <= SENTENCE.to),
      `at ${moments.join(' and ')} s`,
    );
  });

  await t.test('as text and as captions', async (t) => {
    const { body } = await workspace.send('GET', `/items/${id}/text?time_s=8`);
    t.match(body.passages[0], { text_source: 'speech', speech_confidence: Number });
    const answer = await fetch(`${server.url}/agent/v1/workspaces/${workspace.id}/items/${id}/captions`, {
      headers: { Authorization: `Bearer ${workspace.token}` },
    });
    t.equal(answer.headers.get('content-type'), 'text/vtt; charset=utf-8');
    const captions = await answer.text();
    t.match(captions, /^WEBVTT\n\n00:00:00\.\d{3} --> /);
    t.match(captions, /ask not\W+what your country can do for you/i);
    t.match(captions, /ask what you can do for your country/i);
  });

  await t.test('by an agent over MCP', async (t) => {
    const client = new Client({ name: 'test', version: '0' });
    const url = new URL(`${server.url}/mcp?workspace=${workspace.id}`);
    const headers = { Authorization: `Bearer ${workspace.token}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    t.teardown(() => client.close());
    const call = async (name: string, given: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: given })) as CallToolResult;
    const found = await call('search', { query: SENTENCE.words });
    t.match(found.structuredContent, { hits: [{ text_source: 'speech', locator: { time_s: Number } }] });
    const read = await call('item_read', { item: id, time_s: 8 });
    t.match((read.content[0] as { text: string }).text, /ask what you can do for your country/i);
  });
});
