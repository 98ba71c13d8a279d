import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { eventually } from '../../rig/eventually.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../rig/test-server.ts';

/** Several event loops share the port: what holds for one connection holds for the next request on any other. */

const TWO = { FRONTS: '2', METRICS_PORT: '0' };
const KEY = 'the-same-request-again';
/** Connections are given to the fronts in turn. */
const CONNECTIONS = 4;

/** A connection that stays: its requests come to one front. */
class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;

  constructor(t: Test, url: string) {
    this.#url = url;
    t.teardown(() => this.#agent.destroy());
  }

  async open(method: string, path: string, headers: object, body?: string): Promise<IncomingMessage> {
    const sent = request(this.#url + path, { agent: this.#agent, method, headers: { ...headers } });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  }

  async send(method: string, path: string, headers: object, body?: string) {
    const answer = await this.open(method, path, headers, body);
    const read = await text(answer);
    return { status: answer.statusCode, body: read === '' ? undefined : JSON.parse(read) };
  }

  search({ id }: Pick<TestWorkspace, 'id'>, token: string, asked: object, headers: object = {}) {
    const body = JSON.stringify(asked);
    const all = { Authorization: `Bearer ${token}`, 'Content-Length': body.length, ...headers };
    return this.send('POST', `/agent/v1/workspaces/${id}/search`, all, body);
  }
}

function connections(t: Test, url: string): Connection[] {
  return Array.from({ length: CONNECTIONS }, () => new Connection(t, url));
}

async function figures(metricsUrl: string | undefined, name: string): Promise<number[]> {
  const all = await (await fetch(metricsUrl!)).text();
  return [...all.matchAll(new RegExp(`^farthing_${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].map(([, n]) =>
    Number(n),
  );
}

t.test('searches are answered by every front, and an end or a new token holds at once', async (t) => {
  const server = await startTestServer(t, TWO);
  const { metricsUrl } = server.running;
  const agent = new TestAgent(server.url);
  const rent = async () => (await agent.post('/agent/v1/workspaces', {}, { 'Idempotency-Key': KEY })).body;
  const rented = await rent();
  const workspace = new TestWorkspace(server.url, rented.id, rented.capability_token);
  await workspace.ingest('tides.txt', 'Tides follow the moon. The keeper counts gulls.');
  const all = connections(t, server.url);
  let asked = 0;
  const searchAll = async (token: string) => {
    const answers = await Promise.all(all.map((one) => one.search(workspace, token, { query: 'moon' })));
    asked += answers.filter(({ status }) => status === 200).length;
    return answers;
  };
  // The owner answers the first of each front, and then lets it read.
  await eventually(async () => {
    const answers = await searchAll(workspace.token);
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
    return (await figures(metricsUrl, 'front_answered')).every((answered) => answered > 0);
  });
  const [own] = await searchAll(workspace.token);
  // As long as the header of a payment may be.
  const long = await all[0]!.search(
    workspace,
    workspace.token,
    { query: 'moon' },
    { 'X-Note': 'x'.repeat(12_000) },
  );
  t.equal(long.status, 200);
  asked += 1;
  // The owner takes a chunked body.
  const owners = await new Connection(t, server.url).send(
    'POST',
    `/agent/v1/workspaces/${workspace.id}/search`,
    { Authorization: `Bearer ${workspace.token}`, 'Transfer-Encoding': 'chunked' },
    '{"query":"moon"}',
  );
  asked += 1;
  t.same(own?.body.hits, owners.body.hits, 'the same hits');
  const usage = (await workspace.send('GET', '/usage')).body;
  t.equal(usage.searches, asked, 'whoever answered them, all are counted');
  t.equal((await workspace.send('GET', '/history?limit=100')).body.entries.length, Math.min(asked, 100));
  t.same(await figures(metricsUrl, 'searches_total'), [asked, 0]);

  // Paid for once, answered again: the token is replaced.
  const again = await rent();
  t.equal(again.id, workspace.id);
  t.same(
    (await searchAll(workspace.token)).map(({ status }) => status),
    all.map(() => 401),
  );
  t.same(
    (await searchAll(again.capability_token)).map(({ status }) => status),
    all.map(() => 200),
  );
  await searchAll(again.capability_token);
  const running = all.map((one) => one.search(workspace, again.capability_token, { query: 'gulls', k: 2 }));
  const ended = await new Connection(t, server.url).send('DELETE', `/agent/v1/workspaces/${workspace.id}`, {
    Authorization: `Bearer ${again.capability_token}`,
  });
  t.equal(ended.status, 200);
  t.same(
    (await searchAll(again.capability_token)).map(({ status }) => status),
    all.map(() => 401),
  );
  asked += (await Promise.all(running)).filter(({ status }) => status === 200).length;
  t.equal(ended.body.claims.searches, asked, 'the receipt counts what was answered');
});

t.test('a workspace ends for all fronts with its time', async (t) => {
  let shift = 0;
  const server = await startTestServer(t, TWO, { monotonic: () => performance.now() + shift });
  const workspace = await new TestAgent(server.url).rent();
  await workspace.ingest('tides.txt', 'Tides follow the moon.');
  const all = connections(t, server.url);
  const statuses = () =>
    Promise.all(
      all.map(async (one) => (await one.search(workspace, workspace.token, { query: 'moon' })).status),
    );
  for (const _ of [1, 2])
    t.same(
      await statuses(),
      all.map(() => 200),
    );
  shift = 24 * 3_600_000;
  await eventually(async () => (await statuses()).every((status) => status === 401));
});

t.test('the limits of a workspace are those of all fronts together', async (t) => {
  const limits = { tenantLimits: { searchesAtOnce: 1 } };
  const server = await startTestServer(t, { ...TWO, TENANT_REQUESTS_PER_SECOND: '20' }, limits);
  const workspace = await new TestAgent(server.url).rent();
  await workspace.ingest('tides.txt', 'Tides follow the moon.');
  const all = connections(t, server.url);
  const { token } = workspace;
  // One at a time, so that every front has it.
  for (const one of [...all, ...all])
    t.equal((await one.search(workspace, token, { query: 'moon' })).status, 200);
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      all.map((one) => one.search(workspace, token, { query: 'moon' })),
    ).flat(),
  );
  const seconds = (performance.now() - began) / 1000;
  const counted = (refusal: RegExp) =>
    answers.filter(({ status, body }) => status === 429 && refusal.test(body.detail)).length;
  const served = answers.filter(({ status }) => status === 200).length;
  t.equal(served + counted(/requests a second/) + counted(/searches at once/), answers.length);
  t.ok(served > 0 && served + counted(/at once/) <= 40 + 20 * seconds + 1, `${served} of ${answers.length}`);
  await eventually(async () => (await all[0]!.search(workspace, token, { query: 'moon' })).status === 200);
});

t.test(
  'large files pass a front both ways, at the pace of a slow client; one that leaves is noticed',
  async (t) => {
    const server = await startTestServer(t, TWO, { tenantLimits: { streamsAtOnce: 1 } });
    const workspace = await new TestAgent(server.url).rent();
    const page = `<!doctype html><p>Tides<!--${'0123456789abcdef'.repeat(750_000)}-->`;
    const { status, body } = await workspace.ingest('tides.html', page);
    t.equal(status, 200, JSON.stringify(body));
    const path = `/agent/v1/workspaces/${workspace.id}/items/${body.item.id}/content`;
    const headers = { Authorization: `Bearer ${workspace.token}` };
    const slow = await new Connection(t, server.url).open('GET', path, headers);
    slow.setEncoding('utf8');
    let read = '';
    for await (const piece of slow) {
      read += piece;
      if (read.length % 7 === 0) await new Promise(setImmediate);
    }
    t.ok(read === page);
    const left = await new Connection(t, server.url).open('GET', path, headers);
    t.equal(left.statusCode, 200);
    t.equal((await new Connection(t, server.url).send('GET', path, headers)).status, 429);
    left.destroy();
    await eventually(async () => {
      const answer = await new Connection(t, server.url).open('GET', path, {
        ...headers,
        Range: 'bytes=0-9',
      });
      return (await text(answer)) === page.slice(0, 10);
    });
  },
);

t.test('a front that fails ends its own connections alone, and is started again', async (t) => {
  const fronts = new Set<Worker>();
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...words: Parameters<Worker['postMessage']>) {
    if (words[0]?.kind === 'count') fronts.add(this);
    postMessage.apply(this, words);
  };
  t.teardown(() => Object.assign(Worker.prototype, { postMessage }));
  const server = await startTestServer(t, TWO);
  const { metricsUrl } = server.running;
  const workspace = await new TestAgent(server.url).rent();
  await workspace.ingest('tides.txt', 'Tides follow the moon.');
  const all = connections(t, server.url);
  const { token } = workspace;
  for (const one of [...all, ...all])
    t.equal((await one.search(workspace, token, { query: 'moon' })).status, 200);
  const before = await figures(metricsUrl, 'searches_total');
  t.equal(fronts.size, 2);
  const [first] = fronts;
  const running = Promise.allSettled(
    Array.from({ length: 8 }, (_, n) =>
      all.map((one) =>
        one.search(workspace, token, n % 2 ? { query: 'moon' } : { query: 'gull', families: ['raw'] }),
      ),
    ).flat(),
  );
  // It takes no such message.
  first!.postMessage(null);
  await running;
  const outcomes = await Promise.allSettled(all.map((one) => one.open('GET', '/healthz', {})));
  t.ok(
    outcomes.some(({ status }) => status === 'fulfilled'),
    'the other goes on',
  );
  const events = async () => (await fetch(metricsUrl!)).text();
  await eventually(async () => /log_events_total\{event="front_started"\} 1/.test(await events()));
  t.match(await events(), /log_events_total\{event="front_lost"\} 1/);
  t.ok((await figures(metricsUrl, 'searches_total'))[0]! >= before[0]!, 'no counter goes back');
  const fresh = connections(t, server.url);
  for (const one of [...fresh, ...fresh])
    t.equal((await one.search(workspace, token, { query: 'moon' })).status, 200);
  const ended = await workspace.send('DELETE', '');
  t.equal(ended.status, 200, 'what the lost front was inside of ends, too');
});
