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
      t.equal(told(await call(name, { workspace: 'ws_1' }).then(unlessRefused(name, call))), name);
    }
    for (const name of ['dispose', 'toString', '', 'x'.repeat(100_000)]) {
      const answer = await call(name, {});
      t.match(answer, { isError: true, structuredContent: { error: { code: 'not_found' } } });
      t.ok(JSON.stringify(answer).length < 1000);
    }
  }

  /** Renting takes no workspace. */
  function unlessRefused(name: string, call: Awaited<ReturnType<typeof connect>>) {
    return (answer: CallToolResult) => (told(answer).startsWith('field_invalid') ? call(name, {}) : answer);
  }
});

t.test('of many faults the first is reported, and the answer does not grow with their number', async (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`unknown${index}`, 0]));
  const cases: [object, RegExp][] = [
    [{ families: Array(10_000).fill({}) }, /^field_invalid: families: must NOT have more than 16 items\.$/],
    [
      { families: Array(16).fill({}) },
      /^field_invalid: families\/0: must be equal to one of the allowed values \(visual, text_semantic, raw\)\.$/,
    ],
    [unknown, /^field_invalid: arguments: must NOT have more than \d properties\.$/],
    [{ query: 5, k: 'many', 'x"y': 1 }, /^field_invalid: arguments: [^,]*: "x\\"y"\.$/],
    [
      { ['x'.repeat(100_000)]: 0 },
      /^field_invalid: arguments: must NOT have additional properties: "x{63}…"\.$/,
    ],
    [{ query: 5, k: 'many' }, /^field_invalid: (query: must be string|k: must be integer)\.$/],
    [{ query: 'x'.repeat(8193) }, /^field_invalid: query: must NOT have more than 8192 characters\.$/],
  ];
  for (const kind of KINDS) {
    const call = await connect(t, kind);
    for (const [given, expected] of cases) {
      const answer = await call('search', given);
      t.match(answer, { isError: true, structuredContent: { error: { code: 'field_invalid' } } });
      t.match(told(answer), expected);
      t.ok(JSON.stringify(answer).length < 1000, `${JSON.stringify(answer).length} characters`);
    }
  }
});

t.test(
  'every argument of a tool has a limit in its schema, except files, which the body limits',
  async (t) => {
    const FILES = ['image_b64', 'text', 'content_b64'];
    for (const kind of KINDS) {
      for (const { name, inputSchema } of TOOL_NAMES.map((name) => listedTool(name, kind))) {
        const properties = Object.entries(
          inputSchema.properties as Record<string, { type: string; maxLength?: number; maxItems?: number }>,
        );
        t.equal(inputSchema.additionalProperties, false);
        t.equal(inputSchema.maxProperties, properties.length);
        for (const [property, { type, maxLength, maxItems }] of properties) {
          if (type === 'string' && !FILES.includes(property)) t.ok(maxLength, `${name} ${property}`);
          if (type === 'array') t.ok(maxItems, `${name} ${property}`);
          t.not(type, 'object', `${name} ${property}`);
        }
      }
    }
  },
);
