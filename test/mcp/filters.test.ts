import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type Workspace } from '../../src/client/index.ts';
import { localBackend } from '../../src/mcp/local-backend.ts';
import { remoteBackend } from '../../src/mcp/remote-backend.ts';
import type { Backend } from '../../src/mcp/tools.ts';
import { startTestServer } from '../rig/test-server.ts';

/** What tools say of files, and ask of searches, reaches the server from both kinds of MCP server. */

const server = await startTestServer(t);
const client = new Farthing({
  baseUrl: server.url,
  account: privateKeyToAccount(generatePrivateKey()),
});
const { signal } = new AbortController();

function local(workspace: Workspace): Backend {
  const keeper = {
    current: () => workspace.id,
    find: async () => workspace,
    add: async () => undefined,
    remove: async () => undefined,
  };
  const readFile = async () => new Uint8Array();
  return localBackend({ client, keeper, readFile, signal });
}

function remote({ id, token }: Workspace): Backend {
  const scope = { workspace: id, token };
  return remoteBackend({
    innerUrl: server.url,
    baseUrl: server.url,
    payment: undefined,
    scope,
    files: {},
    signal,
  });
}

for (const [kind, backendOf] of [
  ['local', local],
  ['remote', remote],
] as const)
  t.test(`${kind}: keys replace, and filters ask for metadata`, async (t) => {
    const backend = backendOf(await client.workspaces.create());
    const put = async (key: string, text: string, year: number) =>
      (await backend.ingest({ text, name: 'note.txt', key, metadata: { year, note: 'größer' } }, {})).body;
    const first = await put('notes/ä', 'Tides follow the moon.', 2023);
    t.match(first.item, { key: 'notes/ä', metadata: { year: 2023, note: 'größer' } });
    t.match(await put('notes/ä', 'Tides follow the moon.', 2023), { duplicate: true });
    await put('notes/b', 'Tides follow the sun.', 2024);
    await put('notes/ä', 'Tides follow the stars.', 2024);
    const found = async (filter: object) => {
      const { body } = await backend.search({ query: 'tides', families: ['raw'], filter }, {});
      return body.hits.map(({ snippet }) => snippet).sort();
    };
    t.same(await found({ metadata: { year: 2024 } }), ['Tides follow the stars.', 'Tides follow the sun.']);
    t.same(await found({ key: 'notes/b' }), ['Tides follow the sun.']);
    t.same(await found({ metadata: { year: 2023 } }), []);
    const { body } = await backend.search(
      { queries: ['what do tides follow?', { query: 'stars', families: ['raw'], k: 1 }], max_chars: 200 },
      {},
    );
    t.match(body, { hits: [], answers: [{ answered: true, truncated: false }, { hits: [{}] }] });
    t.equal(body.answers![1]!.hits![0]!.text, 'Tides follow the stars.');
    const fused = await backend.search({ queries: ['tides', 'stars'], fused: true, k: 1, passages: 0 }, {});
    t.match(fused.body.hits, [{ text: /^Tides follow the /, queries: [0, 1] }]);
    await t.rejects(backend.search({ query: 'tides', filter: { keys: 'x' } as object }, {}), {
      code: 'field_invalid',
      message: /Did you mean key\?/,
    });
  });
