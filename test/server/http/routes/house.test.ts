import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import t from 'tap';
import { Farthing } from '../../../../src/client/farthing.ts';
import { includesRight, RIGHTS, type Right } from '../../../../src/protocol/house.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { HouseKeys } from '../../../../src/server/workspace/house/house-keys.ts';
import { ServedProcess } from '../../../rig/served-process.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';

/** Keys of the house over real HTTP: what each right opens, and that nothing else opens anything. */

const DAY_MS = 86_400_000;
const shift = { rented: 0, wall: 0 };
const folder = t.testdir({});
const data = join(folder, 'data');
const server = await startTestServer(
  t,
  { DATA_DIR: data },
  { monotonic: () => performance.now() + shift.rented, clock: { now: () => Date.now() + shift.wall } },
);
const stranger = new TestAgent(server.url);

const admin = (...words: string[]) => runCommand({ FARTHING_DATA_DIR: data }, ['keys', ...words]);
async function newKey(name: string, ...options: string[]): Promise<string> {
  const { status, written, explained } = await admin('create', name, ...options);
  if (status !== 0) throw new Error(explained);
  return written.trim();
}

async function send(method: string, path: string, key: string | undefined, body?: string | FormData) {
  const response = await fetch(server.url + path, {
    method,
    body,
    headers: { ...(key !== undefined && { Authorization: `Bearer ${key}` }), Prefer: 'wait=60' },
  });
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

const keeper = await newKey('keeper', '--may', 'admin');
async function newWorkspace(name?: string): Promise<TestWorkspace> {
  const { body, status } = await send('POST', '/house/v1/workspaces', keeper, JSON.stringify({ name }));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return new TestWorkspace(server.url, body.id, keeper);
}

/** The right that each operation needs which is not paid for. In an order in which each finds what it needs. */
const NEEDS: Readonly<Record<string, Right>> = {
  houseWorkspaces: 'read',
  searchWorkspace: 'read',
  grepWorkspace: 'read',
  workspaceUsage: 'read',
  workspaceHistory: 'read',
  workspaceItems: 'read',
  workspaceItem: 'read',
  workspaceItemContent: 'read',
  workspaceItemText: 'read',
  workspaceItemCaptions: 'read',
  workspaceItemPreview: 'read',
  exportWorkspace: 'read',
  workspaceJob: 'read',
  workspaceJobEvents: 'read',
  workspaceReceipt: 'read',
  ingestWorkspace: 'write',
  cancelWorkspaceJob: 'write',
  deleteWorkspaceItem: 'write',
  endReserve: 'write',
  createHouseWorkspace: 'admin',
  disposeWorkspace: 'admin',
};

t.test('each right opens what it should and no more, in every operation of the description', async (t) => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; security: object[] }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.length > 0)
      .map(([method, { operationId }]) => ({ path, method: method.toUpperCase(), operationId })),
  );
  t.same(operations.map(({ operationId }) => operationId).toSorted(), Object.keys(NEEDS).toSorted());
  for (const may of RIGHTS) {
    const workspace = await newWorkspace();
    const { item, job_id } = (await workspace.ingest('gulls.txt', 'The keeper counts gulls at dawn.')).body;
    const key = await newKey(`may-${may}`, '--may', may);
    for (const [operationId, needed] of Object.entries(NEEDS)) {
      const { path, method } = operations.find((each) => each.operationId === operationId)!;
      const at = path.replace('{id}', workspace.id).replace('{item_id}', item.id).replace('{job_id}', job_id);
      const body = /search/.test(path) ? '{"query":"gulls"}' : /ingest/.test(path) ? 'Tides.' : undefined;
      const { status, body: said } = await send(
        method,
        at,
        key,
        method === 'POST' ? (body ?? '{}') : undefined,
      );
      if (includesRight(may, needed))
        t.notOk([401, 403, 500].includes(status), `${may}: ${operationId} ${status}`);
      else
        t.match({ status, said }, { status: 403, said: { code: 'right_missing', may, needed } }, operationId);
    }
    if (may !== 'admin')
      t.match(await workspace.search({ query: 'gulls' }), { status: 200 }, 'nothing was lost');
  }
});

t.test('a workspace of the house costs nothing, stays, and ends with a receipt', async (t) => {
  const make = () =>
    fetch(`${server.url}/house/v1/workspaces`, {
      method: 'POST',
      body: '{"name": "notes", "ttl_minutes": 5}',
      headers: {
        Authorization: `Bearer ${keeper}`,
        'Idempotency-Key': 'sixteen characters'.replace(' ', '-'),
      },
    });
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into it
  const record: any = await (await make()).json();
  t.match(record, { house: true, name: 'notes', state: 'active', warnings: [/ttl_minutes/] });
  t.notOk('capability_token' in record);
  t.match(await (await make()).json(), { id: record.id }, 'the same request again makes no second one');
  const workspace = new TestWorkspace(server.url, record.id, keeper);
  const { body: sent } = await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  t.match(sent, { charged: false, item: { state: 'searchable', expires_at: null } });
  shift.rented += 4000 * DAY_MS;
  t.match((await workspace.searchOpened({ query: 'who watches birds?' })).body, {
    hits: [{ item: { name: 'gulls.txt', expires_at: null } }],
    charged: false,
  });
  const usage = await workspace.send('GET', '/usage');
  t.match(usage.body, {
    house: true,
    state: 'active',
    expires_at: null,
    ttl_seconds_left: null,
    spend_usd: '0',
  });
  t.equal(usage.headers.get('X-Workspace-TTL-Seconds'), null);
  t.match(await workspace.send('DELETE', '/reserve'), { status: 422, body: { code: 'prepaid_unavailable' } });

  const listed = await runCommand({ FARTHING_DATA_DIR: data }, ['workspaces', 'list']);
  t.match(listed.written, new RegExp(`${workspace.id}  active +stays +house  notes`));
  const mine = await send('GET', '/house/v1/workspaces?limit=200', keeper);
  t.ok(mine.body.workspaces.some(({ id }: { id: string }) => id === workspace.id));
  const pages: string[] = [];
  for (let after = ''; ; ) {
    const page = await send('GET', `/house/v1/workspaces?limit=1${after && `&after=${after}`}`, keeper);
    pages.push(...page.body.workspaces.map(({ id }: { id: string }) => id));
    if (page.body.next === null) break;
    after = page.body.next;
  }
  t.same(
    pages,
    mine.body.workspaces.map(({ id }: { id: string }) => id),
    'page by page the same',
  );

  const end = await workspace.send('DELETE', '');
  t.match(end, {
    status: 200,
    body: { claims: { reason: 'deleted', items: 1, searches: 1, spend_usd: '0' } },
  });
  t.notMatch(JSON.stringify(end.body.claims.kept), /token|payments/, 'it had neither');
  t.equal((await workspace.send('DELETE', '')).body.receipt, end.body.receipt, 'the same receipt again');
  t.match(await send('GET', `/agent/v1/receipts/${workspace.id}`, keeper), { status: 200 });
  t.match(await workspace.search({ query: 'gulls' }), { status: 401 });
});

t.test('no other key opens anything, and no refusal tells why', async (t) => {
  const [own, other] = [await newWorkspace(), await newWorkspace()];
  await own.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  const rented = await stranger.rent();
  const certain = await newKey('certain', '--may', 'admin', '--workspaces', own.id);
  const brief = await newKey('brief', '--expires', '1h');
  const revoked = await newKey('revoked', '--may', 'admin');
  const changed = keeper.slice(0, -2) + (keeper.at(-2) === 'A' ? 'B' : 'A') + keeper.at(-1);
  const elsewhere = new HouseKeys({
    store: openStore(join(folder, 'elsewhere')),
    clock: { now: Date.now },
    log: () => undefined,
  });
  const foreign = await elsewhere.create({ name: 'keeper', may: 'admin' });
  const ask = async (id: string, key: string | undefined, path = '/search', method = 'POST') => {
    const answer = await send(
      method,
      `/agent/v1/workspaces/${id}${path}`,
      key,
      method === 'POST' ? '{"query":"gulls"}' : undefined,
    );
    return { status: answer.status, body: { ...answer.body, request_id: '' } };
  };
  for (const key of [certain, brief, revoked]) t.equal((await ask(own.id, key)).status, 200);
  const listed = await admin('list');
  t.match(listed.written, new RegExp(`certain +admin  no end  no limit  ${own.id}`));
  t.notMatch(listed.written, /fhk_/);
  t.match(await send('GET', '/house/v1/workspaces', certain), {
    body: { workspaces: [{ id: own.id }], next: null },
  });
  t.match(await send('POST', '/house/v1/workspaces', certain, '{}'), {
    status: 403,
    body: { code: 'right_missing' },
  });

  t.equal((await admin('revoke', 'revoked')).status, 0);
  t.match(await admin('revoke', 'revoked'), { status: 1, explained: /no key revoked/ });
  shift.wall += 2 * 3_600_000;
  const model = await ask(own.id, undefined);
  t.match(model, { status: 401, body: { code: 'workspace_unauthorized' } });
  const refused: [string, string, string][] = [
    ['another workspace of the house', other.id, certain],
    ['an expired key', own.id, brief],
    ['a revoked key', own.id, revoked],
    ['a key with one character changed', own.id, changed],
    ['a key in capitals', own.id, keeper.toUpperCase()],
    ['another server’s key', own.id, foreign],
    ['the beginning of a key', own.id, keeper.slice(0, 21)],
    ['a stranger’s workspace', rented.id, keeper],
    ['an unknown workspace', `ws_${'0'.repeat(32)}`, keeper],
    ['a workspace of the house with a stranger’s token', own.id, rented.token],
  ];
  for (const [what, id, key] of refused)
    for (const [method, path] of [
      ['POST', '/search'],
      ['POST', '/ingest'],
      ['GET', '/export'],
      ['DELETE', ''],
    ] as const)
      t.strictSame(await ask(id, key, path, method), model, `${what}: ${method} …${path}`);
  for (const key of [undefined, brief, revoked, changed, foreign, rented.token])
    for (const method of ['GET', 'POST'])
      t.match(await send(method, '/house/v1/workspaces', key), {
        status: 401,
        body: { code: 'key_unauthorized' },
      });
  t.match(await rented.search({ query: 'gulls' }), { status: 200 }, 'a stranger’s workspace is untouched');
  // Payments are signed by the true clock.
  shift.wall = 0;
});

t.test('a key pays for nothing, and who pays notices nothing of the house', async (t) => {
  const workspace = await newWorkspace();
  for (const path of [
    '/agent/v1/search',
    '/agent/v1/ingest',
    '/agent/v1/workspaces',
    `/agent/v1/workspaces/${workspace.id}/extend`,
  ]) {
    const [without, withKey] = [
      await send('POST', path, undefined, '{}'),
      await send('POST', path, keeper, '{}'),
    ];
    t.equal(withKey.status, 402, path);
    t.strictSame(withKey.body, without.body, path);
  }
  const path = `/agent/v1/workspaces/${workspace.id}/extend`;
  t.match(await stranger.post(path, {}), {
    status: 401,
    body: { code: 'workspace_unauthorized', charged: false },
  });
  const owner = { Authorization: `Bearer ${keeper}` };
  t.match(await stranger.post(path, {}, owner), {
    status: 422,
    body: { code: 'ttl_limit_exceeded', charged: false },
  });
  t.match((await stranger.rent()).token, /^fws_/, 'a paid creation is as it was');
});

t.test('a key has its own requests a minute', async (t) => {
  const workspace = await newWorkspace();
  const [slow, other] = [await newKey('slow', '--per-minute', '2'), await newKey('other')];
  const path = `/agent/v1/workspaces/${workspace.id}/usage`;
  for (let request = 0; request < 2; request++) t.equal((await send('GET', path, slow)).status, 200);
  for (const at of [path, '/house/v1/workspaces']) {
    const { status, headers, body } = await send('GET', at, slow);
    t.match({ status, body }, { status: 429, body: { code: 'rate_limited', detail: /slow.* 2 requests/ } });
    const seconds = Number(headers.get('Retry-After'));
    t.ok(seconds >= 1 && seconds <= 60, `${seconds} s`);
  }
  t.equal((await send('GET', path, other)).status, 200, 'another key is not concerned');
  shift.rented += 60_000;
  t.equal((await send('GET', path, slow)).status, 200, 'the next minute');
});

t.test('the tools of MCP take a key where they take a token', async (t) => {
  const [workspace, other] = [await newWorkspace(), await newWorkspace()];
  await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  const call = async (key: string, query: string, args: Record<string, unknown>, name = 'search') => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`), { requestInit }) as Transport,
    );
    // The client checks answers against the schemas that it knows.
    await client.listTools();
    const answer = JSON.stringify(await client.callTool({ name, arguments: args }));
    await client.close();
    return answer;
  };
  const question = { query: 'who watches birds in the morning?' };
  t.match(await call(keeper, `?workspace=${workspace.id}`, question), /gulls\.txt/);
  t.match(
    await call(keeper, `?workspace=${other.id}`, { ...question, workspace: workspace.id }),
    /gulls\.txt/,
  );
  t.match(await call(keeper, `?workspace=${workspace.id}`, {}, 'workspace_usage'), /"ttl_seconds_left":null/);
  t.match(await call(keeper, `?workspace=${workspace.id}`, {}, 'item_list'), /gulls\.txt/);
  t.match(await call(`${keeper}x`, `?workspace=${workspace.id}`, question), /workspace_unauthorized/);
});

t.test('the client makes, lists and opens workspaces of the house', async (t) => {
  const lost: string[] = [];
  const farthing = new Farthing({
    baseUrl: server.url,
    key: keeper,
    // The first answer to the creation is lost on its way.
    fetch: async (...call) => {
      const answer = await fetch(...call);
      if (answer.status !== 201 || lost.length > 0) return answer;
      lost.push(((await answer.json()) as { id: string }).id);
      throw new TypeError('connection reset');
    },
  });
  const workspace = await farthing.house.create({ name: 'of the client', language: 'en' });
  t.same([workspace.id], lost, 'a lost answer makes no second one');
  await workspace.ingest(new File(['The lighthouse keeper counts gulls at dawn.'], 'gulls.txt'));
  const opened = farthing.house.open(workspace.id);
  t.match((await opened.search('gulls')).hits, [{ item: { name: 'gulls.txt' } }]);
  const { workspaces } = await farthing.house.list({ limit: 200 });
  t.match(
    workspaces.find(({ id }) => id === workspace.id),
    { name: 'of the client', language: 'eng' },
  );
  t.match(await opened.dispose(), { claims: { items: 1 } }, 'its receipt is checked');
  await t.rejects(new Farthing({ baseUrl: server.url }).house.list(), { code: 'key_unauthorized' });
});

t.test('a stopped server’s keys are made and revoked, too; no file and no log has one', async (t) => {
  const [before, gone] = [await newKey('before'), await newKey('gone')];
  const workspace = await newWorkspace();
  await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  await server.stop();
  const stopped = await newKey('stopped', '--may', 'admin');
  t.equal((await admin('revoke', 'gone')).status, 0);
  t.match((await admin('create', 'stopped')).explained, /There is a key stopped/);
  const log = join(folder, 'log');
  const again = await ServedProcess.start(t, { data, log });
  const status = async (key: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    return (await fetch(`${again.url}/agent/v1/workspaces/${workspace.id}/usage`, { headers })).status;
  };
  t.same([await status(before), await status(stopped), await status(gone)], [200, 200, 401]);
  const live = await newKey('while-it-runs');
  t.equal(await status(live), 200);
  const [copy, restored] = [join(folder, 'copy'), join(folder, 'restored')];
  t.equal((await runCommand({ FARTHING_DATA_DIR: data }, ['backup', copy])).status, 0);
  await again.kill();
  t.equal((await runCommand({ FARTHING_DATA_DIR: restored }, ['restore', copy])).status, 0);
  const third = await ServedProcess.start(t, { data: restored, log });
  const found = await fetch(`${third.url}/agent/v1/workspaces/${workspace.id}/search`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${before}` },
    body: '{"query": "gulls", "families": ["raw"]}',
  });
  t.match(await found.json(), { hits: [{ item: { name: 'gulls.txt' } }] }, 'a backup has the house');
  await third.kill();
  const said = readFileSync(log, 'utf8');
  t.match(said, /"event":"answered".*"key":"stopped"/);
  t.match(said, /"event":"house_key_created".*"key":"while-it-runs"/);
  const secrets = [keeper, before, stopped, gone, live].flatMap((key) => [
    key,
    key.slice('fhk_0123456789abcdef_'.length),
  ]);
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = [
    Buffer.from(said),
    ...files.map((file) => readFileSync(join(file.parentPath, file.name))),
  ];
  for (const secret of secrets) t.notOk(contents.some((bytes) => bytes.includes(secret)));
});

t.test('what a key may not be is refused', async (t) => {
  for (const [words, why] of [
    [['create', 'x', '--may', 'all'], /--may is one of read, write, admin/],
    [['create', 'x', '--workspaces', 'ws_1'], /--workspaces: "ws_1"/],
    [['create', 'x', '--expires', 'soon'], /--expires: "soon"/],
    [['create', 'x', '--expires', '2020-01-01'], /is over/],
    [['create', 'x', '--per-minute', '0'], /--per-minute/],
    [['create', 'a b'], /NAME: use/],
    [['create', 'keeper'], /There is a key keeper/],
  ] as const)
    t.match(await admin(...words), { status: /[12]/, explained: why, written: '' });
  const several = { FARTHING_DATA_DIR: data, FARTHING_SLOTS: '4' };
  t.match(await runCommand(several, ['keys', 'list']), { status: 1, explained: /for a server alone/ });
});
