import t from 'tap';
import { startTestServer, TestAgent, type TestAnswer, type TestWorkspace } from '../../../rig/test-server.ts';

/** Every endpoint below a workspace × every kind of caller, over real HTTP: who is let in, and that no refusal tells why. */

const MINUTE_MS = 60_000;
const shift = { milliseconds: 0 };
const server = await startTestServer(t, {}, { monotonic: () => performance.now() + shift.milliseconds });
const agent = new TestAgent(server.url);
const BASE = '/agent/v1/workspaces/{id}';

/** Rented time goes on; the clock of the payments doesn't. */
const right = await agent.rent({ ttl_minutes: 600 });
const neighbour = await agent.rent({ ttl_minutes: 600 });
const expired = await agent.rent({ ttl_minutes: 1 });
const deleted = await agent.rent({ ttl_minutes: 600 });
const held = await right.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
await expired.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
const receipt = await deleted.send('DELETE', '');
shift.milliseconds += MINUTE_MS;

interface Endpoint {
  readonly method: string;
  /** Below the workspace. */
  readonly path: string;
  readonly body?: string;
  /** Answer to the right token. */
  readonly status: number;
}

/** In an order in which each finds what it needs. */
const endpoints: readonly Endpoint[] = [
  { method: 'POST', path: '/search', body: '{"query":"gulls"}', status: 200 },
  { method: 'POST', path: '/grep', body: '{"pattern":"gulls"}', status: 200 },
  { method: 'POST', path: '/ingest', body: 'Tides follow the moon.', status: 200 },
  { method: 'GET', path: '/usage', status: 200 },
  { method: 'GET', path: '/history', status: 200 },
  { method: 'GET', path: '/items', status: 200 },
  { method: 'GET', path: '/export', status: 200 },
  { method: 'GET', path: '/items/{item_id}', status: 200 },
  { method: 'GET', path: '/items/{item_id}/content', status: 200 },
  { method: 'GET', path: '/items/{item_id}/text', status: 200 },
  { method: 'GET', path: '/items/{item_id}/captions', status: 200 },
  { method: 'GET', path: '/items/{item_id}/preview', status: 422 },
  { method: 'GET', path: '/jobs/{job_id}', status: 200 },
  { method: 'GET', path: '/jobs/{job_id}/events', status: 200 },
  { method: 'DELETE', path: '/jobs/{job_id}', status: 409 },
  { method: 'DELETE', path: '/items/{item_id}', status: 200 },
  { method: 'DELETE', path: '/reserve', status: 200 },
  { method: 'DELETE', path: '', status: 200 },
];

const pathOf = ({ path }: Endpoint) =>
  path.replace('{item_id}', held.body.item.id).replace('{job_id}', held.body.job_id);

async function call(endpoint: Endpoint, id: string, authorization?: string): Promise<TestAnswer> {
  const response = await fetch(`${server.url}${BASE.replace('{id}', id)}${pathOf(endpoint)}`, {
    method: endpoint.method,
    body: endpoint.body,
    headers: authorization === undefined ? {} : { Authorization: authorization },
  });
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** All that a refusal says, but for what differs by its nature. */
function visible({ status, headers, body }: TestAnswer): object {
  const { request_id, ...rest } = body as Record<string, unknown>;
  const shown = Object.fromEntries([...headers].filter(([name]) => !['x-request-id', 'date'].includes(name)));
  return { status, shown, body: rest, hasRequestId: typeof request_id === 'string' };
}

const bearer = ({ token }: TestWorkspace) => `Bearer ${token}`;
const changed = (text: string) => `${text.slice(0, -2)}${text.at(-2) === '0' ? '1' : '0'}${text.at(-1)}`;
const unknownId = `ws_${'0123456789abcdef'.repeat(2)}`;

const refused: readonly [caller: string, id: string, authorization: string | undefined][] = [
  ['no token', right.id, undefined],
  ['an empty one', right.id, 'Bearer '],
  ['another scheme', right.id, `Basic ${right.token}`],
  ['the token without its scheme', right.id, right.token],
  ['two tokens', right.id, `${bearer(right)} ${right.token}`],
  ['a cut token', right.id, bearer(right).slice(0, -1)],
  ['a token with one character changed', right.id, changed(bearer(right))],
  ['a token in capitals', right.id, `Bearer ${right.token.toUpperCase()}`],
  ['a long token', right.id, `Bearer ${'x'.repeat(4000)}`],
  ['something in the place of a token', right.id, 'Bearer null'],
  ['a neighbour’s token', right.id, bearer(neighbour)],
  ['a deleted one’s token', right.id, bearer(deleted)],
  ['an expired one’s token', right.id, bearer(expired)],
  ['the right token at a neighbour', neighbour.id, bearer(right)],
  ['the right token at an unknown id', unknownId, bearer(right)],
  ['the right token at a malformed id', 'nonsense', bearer(right)],
  ['the right token at an id in capitals', right.id.toUpperCase(), bearer(right)],
  ['an expired one', expired.id, bearer(expired)],
  ['an expired one without a token', expired.id, undefined],
  ['a deleted one without a token', deleted.id, undefined],
  ['a deleted one with a neighbour’s token', deleted.id, bearer(neighbour)],
  ['an unknown one without a token', unknownId, undefined],
];

t.test('the matrix covers every endpoint of the description', async (t) => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const described = Object.entries(paths)
    .filter(([path]) => path.startsWith(BASE))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice(BASE.length)}`),
    );
  const here = endpoints.map(({ method, path }) => `${method} ${path}`);
  t.same(described.toSorted(), [...here, 'POST /extend'].toSorted());
});

t.test('every unauthorized request gets the same 401', async (t) => {
  const model = visible(await call(endpoints[0]!, right.id));
  t.match(model, {
    status: 401,
    hasRequestId: true,
    body: { code: 'workspace_unauthorized', charged: false },
  });
  t.notMatch(model, { shown: { 'x-workspace-ttl-seconds': String } }, 'nothing of the workspace');
  for (const endpoint of endpoints) {
    for (const [caller, id, authorization] of refused) {
      const answer = visible(await call(endpoint, id, authorization));
      t.strictSame(answer, model, `${endpoint.method} …${endpoint.path}: ${caller}`);
    }
    if (endpoint.path !== '')
      t.strictSame(visible(await call(endpoint, deleted.id, bearer(deleted))), model, 'a deleted one');
  }
});

t.test('a disposed workspace’s token gets the same receipt again, for DELETE only', async (t) => {
  const again = await deleted.send('DELETE', '');
  t.equal(again.status, 200);
  t.equal(again.body.receipt, receipt.body.receipt);
});

t.test('the receipt of a workspace that is over is for its token alone', async (t) => {
  const ask = async (id: string, authorization?: string) => {
    const headers = authorization === undefined ? undefined : { Authorization: authorization };
    const response = await fetch(`${server.url}/agent/v1/receipts/${id}`, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  t.match(await ask(expired.id, bearer(expired)), { status: 200, body: { claims: { reason: 'expired' } } });
  t.match(await ask(deleted.id, bearer(deleted)), { status: 200, body: { receipt: receipt.body.receipt } });
  t.match(await ask(right.id, bearer(right)), { status: 404, body: { code: 'not_found' } });
  const refusal = visible(await call(endpoints[0]!, right.id));
  for (const [caller, id, authorization] of [
    ...refused,
    ['another’s token', deleted.id, bearer(right)] as const,
  ].filter(([, id]) => id !== expired.id))
    t.strictSame(visible(await ask(id, authorization)), refusal, caller);
});

t.test('an extension of any id is quoted, and a paid one for an unknown id is refused', async (t) => {
  const quoted = async (id: string, headers: Record<string, string>) => {
    const response = await fetch(`${server.url}${BASE.replace('{id}', id)}/extend`, {
      method: 'POST',
      headers,
    });
    const body = (await response.text()).replaceAll(id, '{id}');
    return { status: response.status, body };
  };
  const model = await quoted(right.id, {});
  t.equal(model.status, 402);
  for (const { id } of [neighbour, expired, deleted, { id: unknownId }]) {
    t.strictSame(await quoted(id, {}), model);
    t.strictSame(await quoted(id, { Authorization: bearer(right) }), model);
  }
  const refusal = visible(await call(endpoints[0]!, right.id));
  for (const id of [expired.id, deleted.id, unknownId, 'nonsense']) {
    const answer = await agent.post(`${BASE.replace('{id}', id)}/extend`, { ttl_minutes: 1 });
    t.strictSame(visible(answer), refusal, `paid: ${id}`);
  }
  const anyone = await new TestAgent(server.url).post(`${BASE.replace('{id}', right.id)}/extend`, {});
  t.match(anyone, { status: 200, body: { charged: true } }, 'anyone may pay');
});

t.test('the right token is accepted everywhere, and every answer says what is left', async (t) => {
  for (const endpoint of endpoints) {
    const answer = await call(endpoint, right.id, bearer(right));
    t.equal(answer.status, endpoint.status, `${endpoint.method} …${endpoint.path}`);
    if (endpoint.method === 'DELETE' && endpoint.path === '') continue;
    t.match(answer.headers.get('X-Workspace-TTL-Seconds'), /^\d+$/);
  }
  t.equal((await neighbour.send('GET', '/usage')).status, 200, 'a neighbour is not touched');
});
