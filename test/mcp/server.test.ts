import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import t, { type Test } from 'tap';
import { makeServer } from '../../src/mcp/server.ts';
import { type Backend, type Kind, listedTool, TOOL_NAMES, type ToolCalls } from '../../src/mcp/tools.ts';

/** Nothing but the call that was made is told. */
class Made extends Error {}

const made = (call: string) => () => Promise.reject(new Made(call));

function recordingBackend(): Backend {
  return {
    ...(Object.fromEntries(TOOL_NAMES.map((name) => [name, made(name)])) as unknown as ToolCalls),
    item: made('item'),
    preview: made('preview'),
    baseUrl: 'http://here',
  };
}

async function connect(t: Pick<Test, 'teardown'>, kind: Kind) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = makeServer(kind, () => recordingBackend());
  const client = new Client({ name: 'test', version: '0' });
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  t.teardown(() => client.close());
  return async (name: string, given: object) =>
    (await client.callTool({ name, arguments: { ...given } })) as CallToolResult;
}

const KINDS = ['local', 'remote'] as const;
const told = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

t.test('each tool makes its own call, and an unknown name makes none', async (t) => {
  for (const kind of KINDS) {
    const call = await connect(t, kind);
    for (const name of TOOL_NAMES) {
      t.equal(told(await call(name, givenTo(name))), name);
    }
    for (const name of ['dispose', 'toString', '', 'x'.repeat(100_000)]) {
      const answer = await call(name, {});
      t.match(answer, { isError: true, structuredContent: { error: { code: 'not_found' } } });
      t.ok(JSON.stringify(answer).length < 1000);
    }
  }

  /** What each needs, and a workspace where it takes one. */
  function givenTo(name: string): object {
    if (name === 'workspace_create') return {};
    if (name === 'grep') return { workspace: 'ws_1', pattern: 'gull' };
    return { workspace: 'ws_1', ...(/^item_(read|delete)/.test(name) && { item: 'item_1' }) };
  }
});

t.test('a wrong argument is named, with what is allowed, before anything is called', async (t) => {
  const cases: [string, object, RegExp][] = [
    ['workspace_create', { minutes: 5 }, /"minutes".*ttl_minutes/],
    ['workspace_create', { ttl_minutes: '5' }, /ttl_minutes: .*whole number from 1/],
    ['search', { k: 5000 }, /k: .*from 1 to 1000, not 5000/],
    ['search', { q: 'gulls' }, /"q".*query/],
    ['search', { families: ['words'] }, /families.*visual, text_semantic, raw/],
    ['workspace_dispose', {}, /workspace is missing/],
    ['item_reed', {}, /item_read/],
  ];
  for (const kind of KINDS) {
    const call = await connect(t, kind);
    for (const [name, given, text] of cases) t.match(told(await call(name, given)), text);
  }
});

t.test('what destroys is never a default', async (t) => {
  for (const kind of KINDS) {
    const destructive = TOOL_NAMES.map((name) => listedTool(name, kind)).filter(
      ({ annotations }) => annotations?.destructiveHint,
    );
    t.same(
      destructive.map(({ name, inputSchema }) => [name, inputSchema.required]),
      [
        ['workspace_dispose', ['workspace']],
        ['item_delete', ['item']],
      ],
    );
  }
});

t.test('of many faults the first is reported, and the answer does not grow with their number', async (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`unknown${index}`, 0]));
  const cases: object[] = [
    { families: Array(10_000).fill({}) },
    unknown,
    { ['x'.repeat(100_000)]: 0 },
    { query: 'x'.repeat(8193) },
  ];
  for (const kind of KINDS) {
    const call = await connect(t, kind);
    for (const given of cases) {
      const answer = await call('search', given);
      t.match(answer, { isError: true, structuredContent: { error: { code: 'field_invalid' } } });
      t.ok(JSON.stringify(answer).length < 1000);
    }
  }
});

t.test('every argument of a tool but a file has a limit in its schema', async (t) => {
  const FILES = ['image_b64', 'text', 'content_b64'];
  for (const kind of KINDS) {
    for (const { name, inputSchema } of TOOL_NAMES.map((name) => listedTool(name, kind))) {
      const properties = Object.entries(
        inputSchema.properties as Record<
          string,
          { type: string; maxLength?: number; maxItems?: number; maxProperties?: number }
        >,
      );
      t.equal(inputSchema.additionalProperties, false);
      t.equal(inputSchema.maxProperties, properties.length);
      for (const [property, { type, maxLength, maxItems, maxProperties }] of properties) {
        if (type === 'string' && !FILES.includes(property)) t.ok(maxLength, `${name} ${property}`);
        if (type === 'array') t.ok(maxItems, `${name} ${property}`);
        if (type === 'object') t.ok(maxProperties, `${name} ${property}`);
      }
    }
  }
});
