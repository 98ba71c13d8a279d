import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CrashPlace } from '../../../cluster/crash-place.ts';
import { withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { befall, startNodes } from '../../../payment/crash/cluster-nodes.ts';
import { deep } from '../../../rig/deep.ts';
import { BARE_ENVIRONMENT, environmentOf } from '../../../rig/environment.ts';
import { Random } from '../../../rig/random.ts';
import { ServedProcess } from '../../../rig/served-process.ts';
import { openBooks, tenantFolders } from '../../../rig/stopped-books.ts';
import { FEW_WORKERS, TestAgent, type TestAnswer } from '../../../rig/test-server.ts';

/**
 * The process is killed at random moments while workspaces are paid for, extended and deleted, and the client repeats
 * requests without an answer. Afterwards every workspace has exactly what was paid for it, and every wallet paid exactly that.
 * With state in an etcd that falters and content in objects (`ETCD=1`) the server's whole disk is lost with each kill: then every
 * file that was answered is found by its content as well, and no object of an ended workspace is left. With three servers that share their
 * slots (`SHARED=1`) one of them is struck each time, and workspaces of a minute expire meanwhile, each once.
 */

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? deep(3, 20));
/** A slow machine makes fewer rounds than the default. */
const BUDGET_MS = process.env.CRASH_ROUNDS === undefined ? 60_000 : Number.POSITIVE_INFINITY;
const KILL_WITHIN_MS = 400;
const MINUTES = 60;
const EXTENSION_MINUTES = 20;
const BASE = 10_000n;
const PER_MINUTE = 500n;
const EXTENDED = 3;
const SLOTS = 6;
/** Ends a test that hangs, no more: on a busy machine three servers lose their leases in turn, for minutes. */
const INSIST_MS_MAX = 600_000;
/** A heartbeat of five seconds and a lease of three, and what a busy machine takes. */
const SHARED_GIVEN_MS_MAX = 15_000;

interface Known {
  readonly id: string;
  readonly token: string;
  readonly born: number;
  minutes: number;
  spend: bigint;
}

/** A request that is repeated until it is answered. `key`: its idempotency key, or none. */
interface Attempt {
  readonly agent: TestAgent;
  readonly send: (agent: TestAgent, headers: Record<string, string>) => Promise<TestAnswer>;
  readonly headers: Record<string, string>;
  readonly price: bigint;
  readonly done: (answer: TestAnswer) => void;
}

/** A start without models is quick, and no model is needed here. */
function modelsFolder(folder: string): string {
  const models = join(folder, 'models');
  mkdirSync(models);
  cpSync(resolve(import.meta.dirname, '../../../../models/manifest.json'), join(models, 'manifest.json'));
  return models;
}

const hex = () => randomBytes(16).toString('hex');
const usd = (amount: bigint) => Number(amount) / 1_000_000;

/** The process that is struck, and answers again. */
interface Struck {
  /** Where the next request goes. */
  readonly url: string;
  /** Where the content of workspaces lies, if not in objects. */
  readonly data: string;
  /** Requests may stay without an answer from then on, until `again`. */
  strike(): Promise<void>;
  again(): Promise<void>;
  /** Ends it for good. */
  end(): Promise<void>;
  /** Milliseconds that a strike may have given a workspace beside the time until `again`. */
  readonly givenMsMax: number;
  /** Requests are repeated at once, and not only after `again`. */
  readonly isShared: boolean;
  /** How often servers ended by themselves so far, since their lease was over: etcd falters all the time. */
  gaveUp(): number;
  /** How often each workspace was disposed of as expired, as the servers logged it. Absent: no logs. */
  expired?(): ReadonlyMap<string, number>;
}

/** One server, each time killed, with its disk where that is not all there is. */
async function alone(t: Test, beyond: CrashPlace | undefined): Promise<Struck> {
  const folder = t.testdir({ log: '' });
  const place = {
    data: beyond?.dataFolder ?? join(folder, 'data'),
    log: join(folder, 'log'),
    environment: {
      MODELS_DIR: modelsFolder(folder),
      LOG_LEVEL: 'info',
      ...environmentOf(beyond?.settings ?? {}),
    },
  };
  let server = await ServedProcess.start(t, place);
  return {
    get url() {
      return server.url;
    },
    data: place.data,
    strike: async () => {
      await server.kill();
      beyond?.loseData();
    },
    again: async () => {
      server = await ServedProcess.start(t, place);
    },
    end: () => server.kill(),
    givenMsMax: Number.POSITIVE_INFINITY,
    gaveUp: () => 0,
    isShared: false,
  };
}

/** Three servers that share their slots: each time one of them is killed, paused or restarted, or loses its disk. */
async function shared(t: Test, beyond: CrashPlace, random: Random): Promise<Struck> {
  const settings = {
    ...BARE_ENVIRONMENT,
    BASE_URL: 'http://127.0.0.1:8402',
    DEMO: '0',
    LOG_LEVEL: 'info',
    QUERY_WAIT_MS_MAX: '0',
    MODELS_DIR: modelsFolder(t.testdir({})),
    ...FEW_WORKERS,
    ...beyond.settings,
  };
  const { nodes, peerFaults, close } = await startNodes(beyond, settings, random);
  t.teardown(close);
  const asking = random.fork();
  const befallen: Record<string, number> = {};
  const again = async () => void (await Promise.all(nodes.map((node) => node.ready)));
  await again();
  return {
    get url() {
      return asking.pick(nodes).url;
    },
    data: '',
    strike: () =>
      befall(random.pick(nodes), random, (what) => {
        befallen[what] = (befallen[what] ?? 0) + 1;
      }),
    again,
    end: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      t.comment(JSON.stringify({ befallen, peerFaults, gaveUp: nodes.map(({ gaveUp }) => gaveUp) }));
    },
    givenMsMax: SHARED_GIVEN_MS_MAX,
    gaveUp: () => nodes.reduce((sum, { gaveUp }) => sum + gaveUp, 0),
    isShared: true,
    expired: () => {
      const counts = new Map<string, number>();
      for (const line of nodes.flatMap(({ logFile }) => readFileSync(logFile, 'utf8').split('\n'))) {
        if (!line.includes('"workspace_disposed"') || !line.includes('"expired"')) continue;
        const { workspace } = JSON.parse(line) as { workspace: string };
        counts.set(workspace, (counts.get(workspace) ?? 0) + 1);
      }
      return counts;
    },
  };
}

async function run(t: Test, server: Struck, beyond: CrashPlace | undefined): Promise<void> {
  const paid = new Map<string, bigint>();
  const living = new Map<string, Known>();
  const filled: Known[] = [];
  /** Receipts of ended workspaces, as the first answer had them. */
  const receipts = new Map<Known, string>();
  /** Workspaces of a minute, which end by themselves. */
  const short: Known[] = [];

  /** With other servers there, one that is gone is no answer yet. */
  const answered = async (ask: () => Promise<TestAnswer>): Promise<TestAnswer> => {
    try {
      return await ask();
    } catch (error) {
      if (!server.isShared) throw error;
      return { status: 503, headers: new Headers(), body: String(error) };
    }
  };
  const perform = async ({ agent, send, headers, price, done }: Attempt): Promise<void> => {
    const givingUp = Date.now() + INSIST_MS_MAX;
    const asked = () => answered(() => send(new TestAgent(server.url, agent.account), headers));
    let answer = await asked();
    while (beyond && answer.status === 503 && Date.now() < givingUp) {
      await pause(randomInt(500));
      answer = await asked();
    }
    if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    if (price > 0n) paid.set(agent.account.address.toLowerCase(), price);
    done(answer);
  };
  const keep = (minutes: number, born: number, { body }: TestAnswer): Known => {
    const spend = BASE + PER_MINUTE * BigInt(minutes);
    const known = { id: body.id, token: body.capability_token, born, minutes, spend };
    living.set(known.id, known);
    return known;
  };
  /** One wallet each, to tell its payments apart. */
  const creation = (): Attempt => {
    const born = performance.now();
    return {
      agent: new TestAgent(server.url),
      send: (agent, headers) => agent.post('/agent/v1/workspaces', { ttl_minutes: MINUTES }, headers),
      headers: randomInt(2) === 0 ? { 'Idempotency-Key': hex() } : {},
      price: BASE + PER_MINUTE * BigInt(MINUTES),
      done: (answer) => void keep(MINUTES, born, answer),
    };
  };
  /** Ends by itself while others are struck. */
  const shortCreation = (): Attempt => {
    const born = performance.now();
    return {
      agent: new TestAgent(server.url),
      send: (agent, headers) => agent.post('/agent/v1/workspaces', { ttl_minutes: 1 }, headers),
      headers: { 'Idempotency-Key': hex() },
      price: BASE + PER_MINUTE,
      done: ({ body }) => {
        short.push({ id: body.id, token: body.capability_token, born, minutes: 1, spend: BASE + PER_MINUTE });
      },
    };
  };
  const extension = (known: Known): Attempt => ({
    agent: new TestAgent(server.url),
    send: (agent, headers) =>
      agent.post(`/agent/v1/workspaces/${known.id}/extend`, { ttl_minutes: EXTENSION_MINUTES }, headers),
    headers: randomInt(2) === 0 ? { 'Idempotency-Key': hex() } : {},
    price: PER_MINUTE * BigInt(EXTENSION_MINUTES),
    done: () => {
      known.minutes += EXTENSION_MINUTES;
      known.spend += PER_MINUTE * BigInt(EXTENSION_MINUTES);
    },
  });
  const asked = async (path: string, { token }: Known, init: RequestInit): Promise<TestAnswer> => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${server.url}/agent/v1/${path}`, { ...init, headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const holder = (known: Known, method: string, path: string, body?: string): Promise<TestAnswer> =>
    asked(`workspaces/${known.id}${path}`, known, { method, body });
  const receiptOf = (known: Known) => asked(`receipts/${known.id}`, known, {});
  /** Repeats what changes nothing, or nothing more: etcd may falter, and a server may lose its lease. */
  const insist = async (ask: () => Promise<TestAnswer>): Promise<TestAnswer> => {
    const givingUp = Date.now() + INSIST_MS_MAX;
    for (;;) {
      const answer = await answered(ask);
      if (answer.status !== 503 || Date.now() > givingUp) return answer;
      await pause(randomInt(500));
    }
  };
  const findsItsFile = async (known: Known): Promise<boolean> => {
    const query = JSON.stringify({ query: `"Words of ${known.id}"`, families: ['raw'] });
    const { status, body } = await insist(() => holder(known, 'POST', '/search', query));
    return status === 200 && body.hits.length === 1;
  };
  const deletion = (known: Known): Attempt => ({
    agent: new TestAgent(server.url),
    send: () => holder(known, 'DELETE', ''),
    headers: {},
    price: 0n,
    done: ({ body }) => {
      living.delete(known.id);
      receipts.set(known, body.receipt);
    },
  });

  for (let index = 0; index < ROUNDS + EXTENDED; index++) {
    const attempt = creation();
    await perform(attempt);
  }
  for (const known of living.values()) {
    t.match((await insist(() => holder(known, 'POST', '/ingest', `Words of ${known.id}.`))).status, /20[02]/);
    filled.push(known);
  }
  const searchableBy = Date.now() + INSIST_MS_MAX;
  for (const known of filled) {
    while (!(await findsItsFile(known)) && Date.now() < searchableBy) await pause(50);
    t.ok(await findsItsFile(known), 'what was uploaded is found');
  }
  const extended = filled.splice(0, EXTENDED);

  const began = performance.now();
  let rounds = 0;
  let unanswered = 0;
  let givenMs = 0;
  /** Milliseconds that strikes, and leases that were over, may have given a workspace so far. */
  const given = () => givenMs + server.gaveUp() * SHARED_GIVEN_MS_MAX;
  for (; rounds < ROUNDS && performance.now() - began < BUDGET_MS; rounds++) {
    const attempts = [creation(), creation(), ...extended.map(extension), deletion(filled.pop()!)];
    if (server.isShared) attempts.push(shortCreation());
    const open = new Set(attempts);
    const running = attempts.map((attempt) =>
      perform(attempt).then(
        () => open.delete(attempt),
        () => undefined,
      ),
    );
    await pause(randomInt(KILL_WITHIN_MS));
    const struckAt = performance.now();
    await server.strike();
    await Promise.all(running);
    unanswered += open.size;
    await server.again();
    for (const attempt of open) await perform(attempt);
    // A server that was struck may end a little later, once it knows that its lease is over.
    givenMs += performance.now() - struckAt + server.givenMsMax;

    for (const known of [...extended, ...[...living.values()].slice(-2)]) {
      const { status, body } = await insist(() => holder(known, 'GET', '/usage'));
      t.equal(status, 200);
      t.equal(Number(body.spend_usd), usd(known.spend), 'spent as paid');
      const left = body.ttl_seconds_left;
      const elapsed = (performance.now() - known.born) / 1000 + 1;
      t.ok(left <= known.minutes * 60, `${left} s are no more than was paid for`);
      t.ok(left >= known.minutes * 60 - elapsed, `${left} s are all that was paid for`);
      t.ok(left <= known.minutes * 60 - elapsed + 2 + given() / 1000, `${left} s are no gift`);
    }
    const expected = [...extended, ...filled].map(({ id }) => id);
    t.same(
      (await contentOf(server.data, beyond)).toSorted(),
      expected.toSorted(),
      'only live workspaces have content',
    );
    t.ok(await findsItsFile(extended[rounds % EXTENDED]!), 'and their files are found');
  }
  t.comment(`${rounds} kills, ${unanswered} requests without an answer`);
  await beyond?.calm();
  t.comment(JSON.stringify(beyond?.etcdFaults ?? {}));
  for (const known of [...extended, ...filled]) t.ok(await findsItsFile(known));
  for (const known of short) {
    const began = Date.now();
    let answer = await insist(() => holder(known, 'GET', '/usage'));
    while (answer.status === 200 && Date.now() < began + 60_000 + given()) {
      await pause(500);
      answer = await insist(() => holder(known, 'GET', '/usage'));
    }
    const { status, body } = answer;
    t.ok(
      status === 401 || status === 410 || status === 404,
      `${known.id} has expired: ${status} ${JSON.stringify(body)}`,
    );
    // It is refused from its last second on; a receipt implies that its end is stored.
    t.equal((await insist(() => receiptOf(known))).status, 200, 'it has a receipt');
  }
  if (server.isShared)
    for (const [known, receipt] of receipts)
      t.equal((await insist(() => holder(known, 'DELETE', ''))).body.receipt, receipt, 'it has one receipt');
  await server.end();
  const expired = server.expired?.();
  t.comment(`${short.length} expired by themselves`);
  if (expired)
    for (const { id } of short) t.ok((expired.get(id) ?? 0) <= 1, `${id} was disposed of by one server`);

  const books = await openBooks((await beyond?.books()) ?? server.data);
  t.teardown(() => books.close());
  const transfers = new Map<string, bigint>();
  for (const { value } of books.rows<{ from: string; value: string }>('local_transfers')) {
    const from = value.from.toLowerCase();
    transfers.set(from, (transfers.get(from) ?? 0n) + BigInt(value.value));
  }
  t.same([...transfers].toSorted(), [...paid].toSorted(), 'every wallet paid once what it bought');
  t.same(books.rows('workspace_undecided'), [], 'no creation and no extension waits for a payment');
  const records = books.rows<{ id: string; state: string; spend: bigint }>('workspaces');
  const open = records.filter(({ value }) => value.state !== 'disposed');
  t.same(open.map(({ key }) => key).toSorted(), [...living.keys()].toSorted());
  for (const { value } of open) t.equal(value.spend, living.get(value.id)?.spend);
  for (const { id } of short) {
    const ends = records.filter(({ key }) => key === id);
    t.match(ends, [{ value: { state: 'disposed', end: { reason: 'expired' } } }]);
    t.equal(ends.length, 1);
  }
  const keys = books.rows('content_keys').map(({ key }) => key);
  t.same(
    keys.filter((key) => key.startsWith('ws_') && !living.has(key)),
    [],
    'no key of an ended workspace is left',
  );
}

function seeded(t: Test): number {
  const seed = Number(process.env.SEED || Date.now() % 2 ** 31);
  t.comment(`seed of etcd's faults, and of what befalls servers, ${seed}`);
  return seed;
}

/** Workspaces of which there is a folder, or with objects an object. */
async function contentOf(data: string, beyond: CrashPlace | undefined): Promise<string[]> {
  if (beyond) return [...new Set(beyond.objects().flatMap((path) => path.match(/ws_[^/]+/)?.[0] ?? []))];
  return (await tenantFolders(data)).filter((name) => name.startsWith('ws_') || name.startsWith('.'));
}

if (process.env.ETCD === undefined && process.env.SHARED === undefined)
  t.test(`killed ${ROUNDS} times, it loses no paid minute, gives none away, and leaves no folder`, (t) =>
    alone(t, undefined).then((server) => run(t, server, undefined)),
  );

if (
  process.env.ETCD !== undefined ||
  (process.env.CRASH_ROUNDS === undefined && process.env.SHARED === undefined)
)
  t.test(
    `killed ${ROUNDS} times with its whole disk, it loses no paid minute and no file, gives none away, and leaves no object`,
    withoutEtcd === undefined ? {} : { skip: withoutEtcd },
    async (t) => {
      const place = await CrashPlace.open({ beyondDisk: 'folder' }, new Random(seeded(t)));
      t.teardown(() => place.close({ keep: false }));
      await run(t, await alone(t, place), place);
    },
  );

if (process.env.SHARED !== undefined || process.env.CRASH_ROUNDS === undefined)
  t.test(
    `${ROUNDS} times one of three servers that share slots is killed, paused, restarted or loses its disk: no paid minute is lost, and each workspace ends once`,
    withoutEtcd === undefined ? {} : { skip: withoutEtcd },
    async (t) => {
      const random = new Random(seeded(t));
      const place = await CrashPlace.open({ beyondDisk: 'folder', sharedSlots: SLOTS }, random.fork());
      t.teardown(() => place.close({ keep: false }));
      await run(t, await shared(t, place, random), place);
    },
  );
