import t from 'tap';
import { freePorts } from '../../rig/ports.ts';
import { BEARER, inWorkspace, JOB, PAYMENT, paidRoute, startNodes, workspaceRoute } from './nodes.ts';
import { relayBefore } from './relay.ts';

/** Answers to a client when the owner of its slot is gone, unresponsive, or has lost the slot. */

const SEARCH = '/agent/v1/search';
const PAID = { 'x-payment': PAYMENT };

/** Routes of which each tells when it runs, and does not end. */
function hanging() {
  const running: string[] = [];
  let onRun = (): void => undefined;
  const hang =
    (name: string) =>
    ({ signal }: { readonly signal: AbortSignal }) => {
      running.push(name);
      onRun();
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
  const ran = async (count: number) => {
    while (running.length < count)
      await new Promise<void>((resolve) => {
        onRun = resolve;
      });
  };
  return { running, hang, ran };
}

const told = async (answer: Response) => {
  const { code, charged } = (await answer.json()) as { code: string; charged: unknown };
  return { status: answer.status, code, charged, again: answer.headers.get('retry-after') };
};

t.test('an owner is gone after it had the request: whether it was done is told as unknown', async (t) => {
  const { running, hang, ran } = hanging();
  const nodes = await startNodes(t, () => [
    paidRoute('POST', SEARCH, hang('paid')),
    paidRoute('GET', '/agent/v1/items/{item_id}', hang('paid item')),
    workspaceRoute('POST', '/ingest', hang('writing')),
    workspaceRoute('DELETE', '', hang('deleting')),
  ]);
  const { a, b, reach } = nodes;
  const relay = await relayBefore(t, b.port);
  reach('b', relay.url);
  const asked = [
    fetch(a.url + SEARCH, { method: 'POST', headers: PAID, body: '{}' }),
    fetch(`${a.url}/agent/v1/items/item_1`, { headers: PAID }),
    fetch(a.url + inWorkspace('/ingest'), { method: 'POST', headers: BEARER, body: 'words' }),
    fetch(a.url + inWorkspace(''), { method: 'DELETE', headers: BEARER }),
  ];
  await ran(4);
  relay.cut();
  const answers = await Promise.all(asked.map(async (each) => told(await each)));
  const pending = { status: 503, code: 'settlement_pending', charged: null, again: '2' };
  const interrupted = { status: 503, code: 'interrupted', charged: false, again: '2' };
  t.same(answers, [pending, pending, interrupted, interrupted]);
  t.equal(running.length, 4, 'nothing was sent a second time');
  t.same(
    a.forwarded.map(({ outcome }) => outcome),
    Array(4).fill('lost'),
  );
});

t.test('a read or a search by token that was lost with the owner is sent once more', async (t) => {
  const { running, hang, ran } = hanging();
  const nodes = await startNodes(t, ({ name }) => {
    const done = () => ({ status: 200, headers: {}, body: { name } });
    return [
      workspaceRoute('GET', '/usage', name === 'b' ? hang('read') : done),
      workspaceRoute('POST', '/search', name === 'b' ? hang('search') : done, 'searchWorkspace'),
      { method: 'GET', path: '/agent/v1/jobs/{job_id}', handle: name === 'b' ? hang('job') : done },
    ];
  });
  const { a, b, reach, place } = nodes;
  const relay = await relayBefore(t, b.port);
  reach('b', relay.url);
  const ask = () => [
    fetch(a.url + inWorkspace('/usage'), { headers: BEARER }),
    fetch(a.url + inWorkspace('/search'), { method: 'POST', headers: BEARER, body: '{"query":"x"}' }),
    fetch(`${a.url}/agent/v1/jobs/${JOB}`),
  ];
  const asked = ask();
  await ran(3);
  place('c');
  relay.cut();
  for (const each of asked) t.same(await (await each).json(), { name: 'c' });
  t.equal(running.length, 3);

  place('b');
  const askedAgain = ask();
  await ran(6);
  relay.cut();
  await ran(9);
  relay.cut();
  for (const each of askedAgain)
    t.match(await told(await each), { code: 'interrupted', status: 503 }, 'and no more');
  t.equal(running.length, 9);

  const large = fetch(a.url + inWorkspace('/search'), {
    method: 'POST',
    headers: BEARER,
    body: 'x'.repeat(300_000),
  });
  await ran(10);
  relay.cut();
  t.match(await told(await large), { code: 'interrupted', status: 503 }, 'nor what went through as it came');
  t.equal(running.length, 10);
  t.equal(a.forwarding.underWay, 0);
});

t.test('what an owner never had is sent to the next one, paid or not', async (t) => {
  const { a, reach, place } = await startNodes(t, ({ name }) => {
    const done = async (exchange: { body: { whole(max: number): Promise<Buffer> } }) => ({
      status: 200,
      headers: {},
      body: { name, body: (await exchange.body.whole(2 ** 20)).toString() },
    });
    return [paidRoute('POST', SEARCH, done), workspaceRoute('POST', '/ingest', done)];
  });
  const large = 'x'.repeat(300_000);
  const ask = async () => {
    const asked = [
      fetch(a.url + SEARCH, { method: 'POST', headers: PAID, body: 'paid' }),
      fetch(a.url + inWorkspace('/ingest'), { method: 'POST', headers: BEARER, body: 'words' }),
      fetch(a.url + inWorkspace('/ingest'), { method: 'POST', headers: BEARER, body: large }),
    ];
    return asked;
  };
  const bodies = ['paid', 'words', large];
  for (const next of ['c', 'a'] as const) {
    reach('b', `http://127.0.0.1:${(await freePorts(1))[0]}`);
    place('b');
    const asked = await ask();
    place(next);
    t.same(
      await Promise.all(asked.map(async (each) => (await each).json())),
      bodies.map((body) => ({ name: next, body })),
      `nobody listened at the first; ${next} has it then`,
    );
  }
});

t.test('an owner that has the slot no more says so, and the next one is asked', async (t) => {
  const { a, b, place } = await startNodes(t, ({ name }) => [
    paidRoute('POST', SEARCH, async (exchange) => ({
      status: 200,
      headers: {},
      body: { name, bytes: (await exchange.body.whole(2 ** 20)).length },
    })),
  ]);
  place('c', ['b', 'c']);
  for (const bytes of [10, 300_000]) {
    place('b', ['a']);
    const before = b.answered.length;
    const asked = fetch(a.url + SEARCH, { method: 'POST', headers: PAID, body: 'x'.repeat(bytes) });
    while (b.answered.length === before) await new Promise(setImmediate);
    place('c', ['a']);
    t.same(await (await asked).json(), { name: 'c', bytes });
  }
  t.ok(
    b.answered.every(({ status, route }) => status === 421 || route.endsWith('/owns')),
    'nothing of it was done there',
  );
});

t.test('a request waits for a slot on its way, unread, and is answered by its new owner', async (t) => {
  const moving = Promise.withResolvers<void>();
  const { a, place } = await startNodes(t, ({ name }) => [
    workspaceRoute('POST', '/ingest', async (exchange) => ({
      status: 200,
      headers: {},
      body: { name, bytes: (await exchange.body.whole(2 ** 24)).length },
    })),
  ]);
  for (const owner of ['a', 'c'] as const) {
    place({ moving: moving.promise });
    const sizes = [0, 10, 3_000_000];
    const asked = sizes.map((bytes) =>
      fetch(a.url + inWorkspace('/ingest'), { method: 'POST', headers: BEARER, body: 'x'.repeat(bytes) }),
    );
    while (a.forwarding.waiting < sizes.length) await new Promise(setImmediate);
    place(owner);
    moving.resolve();
    const answers = await Promise.all(asked.map(async (each) => (await each).json()));
    t.same(
      answers,
      sizes.map((bytes) => ({ name: owner, bytes })),
    );
    t.equal(a.forwarding.waiting, 0);
  }
});

t.test('an owner that stands still is given up once its slot is elsewhere, and not before', async (t) => {
  const { hang, ran } = hanging();
  const limits = { silentMsMax: 400, lookMs: 50 };
  const { a, b, reach, place, looks } = await startNodes(
    t,
    ({ name }) => [
      paidRoute('POST', SEARCH, name === 'b' ? hang('paid') : () => t.fail() as never),
      workspaceRoute(
        'GET',
        '/usage',
        name === 'b' ? hang('read') : () => ({ status: 200, headers: {}, body: { name } }),
      ),
    ],
    limits,
  );
  const relay = await relayBefore(t, b.port);
  reach('b', relay.url);
  const asked = [
    fetch(a.url + SEARCH, { method: 'POST', headers: PAID, body: '{}' }),
    fetch(a.url + inWorkspace('/usage'), { headers: BEARER }),
  ] as const;
  await ran(2);
  relay.freeze();
  let isOver = false;
  void Promise.race(asked).then(() => {
    isOver = true;
  });
  const longAgo = looks('a') + (4 * limits.silentMsMax) / limits.lookMs;
  while (looks('a') < longAgo) await new Promise(setImmediate);
  t.notOk(isOver, 'a long request of an owner that has its slot goes on');
  place('c');
  t.match(await told(await asked[0]), { code: 'settlement_pending', charged: null });
  t.same(await (await asked[1]).json(), { name: 'c' });
  relay.cut();
});

t.test('an owner that dies within its answer ends the client’s connection without a clean end', async (t) => {
  const piece = Buffer.alloc(64 * 1024);
  const more = Promise.withResolvers<never>();
  const body = async function* () {
    for (let count = 0; count < 4; count++) yield piece;
    await more.promise;
  };
  const { a, b, reach } = await startNodes(t, () => [
    workspaceRoute('GET', '/file', () => ({
      status: 200,
      headers: {},
      content: { bytes: 100 * piece.length, pieces: body(), close: async () => undefined },
    })),
    workspaceRoute('GET', '/events', () => ({
      status: 200,
      headers: {},
      events: (async function* () {
        yield { event: 'job', data: {} };
        await more.promise;
      })(),
      close: () => undefined,
    })),
  ]);
  const relay = await relayBefore(t, b.port);
  reach('b', relay.url);
  for (const path of ['/file', '/events']) {
    const answer = await fetch(a.url + inWorkspace(path), { headers: BEARER });
    t.equal(answer.status, 200);
    const reader = answer.body!.getReader();
    await reader.read();
    relay.cut();
    const readAll = async () => {
      while (!(await reader.read()).done);
    };
    await t.rejects(readAll(), path);
  }
  t.same(a.faults, []);
  more.reject(new Error('over'));
});

t.test('the owner’s work ends when the client leaves', async (t) => {
  const noticed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { a } = await startNodes(t, () => [
    workspaceRoute('POST', '/search', async ({ signal }) => {
      signal.addEventListener('abort', () => noticed.resolve(), { once: true });
      begun.resolve();
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }),
  ]);
  const leaving = new AbortController();
  const asked = fetch(a.url + inWorkspace('/search'), {
    method: 'POST',
    headers: BEARER,
    body: '{}',
    signal: leaving.signal,
  });
  await begun.promise;
  leaving.abort();
  await t.rejects(asked);
  await noticed.promise;
  while (a.answered.length === 0) await new Promise(setImmediate);
  t.match(a.answered, [{ status: 499, code: 'client_left' }]);
  t.match(a.forwarded, [{ outcome: 'left' }]);
  t.same(a.faults, []);
});
