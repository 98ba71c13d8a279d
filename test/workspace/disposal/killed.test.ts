import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CrashPlace } from '../../cluster/crash-place.ts';
import { withoutEtcd } from '../../cluster/etcd-servers.ts';
import { deep } from '../../rig/deep.ts';
import { environmentOf } from '../../rig/environment.ts';
import { Random } from '../../rig/random.ts';
import { ServedProcess } from '../../rig/served-process.ts';
import { openBooks, tenantFolders } from '../../rig/stopped-books.ts';
import { TestAgent, type TestAnswer } from '../../rig/test-server.ts';

/**
 * The process is killed at random moments while workspaces are paid for, extended and deleted, and the client repeats
 * requests without an answer. Afterwards every workspace has exactly what was paid for it, and every wallet paid exactly that.
 * With books in an etcd that falters and content in objects (`ETCD=1`) the server's whole disk is lost with each kill: then every
 * file that was answered is found by its content as well, and no object of an ended workspace is left.
 */

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? deep(3, 30));
/** A slow machine makes fewer rounds than the default. */
const BUDGET_MS = process.env.CRASH_ROUNDS === undefined ? 60_000 : Number.POSITIVE_INFINITY;
const KILL_WITHIN_MS = 400;
const MINUTES = 60;
const EXTENSION_MINUTES = 20;
const BASE = 10_000n;
const PER_MINUTE = 500n;
const EXTENDED = 3;
const ANSWER_MS_MAX = 60_000;

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
  cpSync(resolve(import.meta.dirname, '../../../models/manifest.json'), join(models, 'manifest.json'));
  return models;
}

const hex = () => randomBytes(16).toString('hex');
const usd = (amount: bigint) => Number(amount) / 1_000_000;

async function run(t: Test, beyond: CrashPlace | undefined): Promise<void> {
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
  const paid = new Map<string, bigint>();
  const living = new Map<string, Known>();
  const filled: Known[] = [];

  const perform = async ({ agent, send, headers, price, done }: Attempt): Promise<void> => {
    const givingUp = Date.now() + ANSWER_MS_MAX;
    let answer = await send(new TestAgent(server.url, agent.account), headers);
    // etcd may be without a majority for seconds.
    while (beyond && answer.status === 503 && Date.now() < givingUp) {
      await pause(randomInt(500));
      answer = await send(new TestAgent(server.url, agent.account), headers);
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
  /** One wallet each, so that its payments can be told apart. */
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
  const holder = async (known: Known, method: string, path: string, body?: string): Promise<TestAnswer> => {
    const response = await fetch(`${server.url}/agent/v1/workspaces/${known.id}${path}`, {
      method,
      body,
      headers: { Authorization: `Bearer ${known.token}` },
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const findsItsFile = async (known: Known): Promise<boolean> => {
    const query = JSON.stringify({ query: `"Words of ${known.id}"`, families: ['raw'] });
    const { status, body } = await holder(known, 'POST', '/search', query);
    return status === 200 && body.hits.length === 1;
  };
  const deletion = (known: Known): Attempt => ({
    agent: new TestAgent(server.url),
    send: () => holder(known, 'DELETE', ''),
    headers: {},
    price: 0n,
    done: () => void living.delete(known.id),
  });

  for (let index = 0; index < ROUNDS + EXTENDED; index++) {
    const attempt = creation();
    await perform(attempt);
  }
  for (const known of living.values()) {
    t.equal((await holder(known, 'POST', '/ingest', `Words of ${known.id}.`)).status, 200);
    filled.push(known);
  }
  for (const known of filled) while (!(await findsItsFile(known))) await pause(50);
  const extended = filled.splice(0, EXTENDED);

  const began = performance.now();
  let rounds = 0;
  let unanswered = 0;
  for (; rounds < ROUNDS && performance.now() - began < BUDGET_MS; rounds++) {
    const attempts = [creation(), creation(), ...extended.map(extension), deletion(filled.pop()!)];
    const open = new Set(attempts);
    const running = attempts.map((attempt) =>
      perform(attempt).then(
        () => open.delete(attempt),
        () => undefined,
      ),
    );
    await pause(randomInt(KILL_WITHIN_MS));
    await server.kill();
    beyond?.loseData();
    await Promise.all(running);
    unanswered += open.size;
    server = await ServedProcess.start(t, place);
    for (const attempt of open) await perform(attempt);

    for (const known of [...extended, ...[...living.values()].slice(-2)]) {
      const { body } = await holder(known, 'GET', '/usage');
      t.equal(Number(body.spend_usd), usd(known.spend), 'spent as paid');
      const left = body.ttl_seconds_left;
      const elapsed = (performance.now() - known.born) / 1000 + 1;
      t.ok(left <= known.minutes * 60, `${left} s are no more than was paid for`);
      t.ok(left >= known.minutes * 60 - elapsed, `${left} s are all that was paid for`);
    }
    const expected = [...extended, ...filled].map(({ id }) => id);
    t.same(
      (await contentOf(place.data, beyond)).toSorted(),
      expected.toSorted(),
      'only live workspaces have content',
    );
    t.ok(await findsItsFile(extended[rounds % EXTENDED]!), 'and their files are found');
  }
  t.comment(`${rounds} kills, ${unanswered} requests without an answer`);
  await beyond?.calm();
  t.comment(JSON.stringify(beyond?.etcdFaults ?? {}));
  for (const known of [...extended, ...filled]) t.ok(await findsItsFile(known));
  await server.kill();

  const books = await openBooks((await beyond?.books()) ?? place.data);
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
  const keys = books.rows('content_keys').map(({ key }) => key);
  t.same(
    keys.filter((key) => key.startsWith('ws_') && !living.has(key)),
    [],
    'no key of an ended workspace is left',
  );
}

/** Workspaces of which there is a folder, or with objects an object. */
async function contentOf(data: string, beyond: CrashPlace | undefined): Promise<string[]> {
  if (beyond) return [...new Set(beyond.objects().flatMap((path) => path.match(/ws_[^/]+/)?.[0] ?? []))];
  return (await tenantFolders(data)).filter((name) => name.startsWith('ws_') || name.startsWith('.'));
}

if (process.env.ETCD === undefined)
  t.test(`killed ${ROUNDS} times, it loses no paid minute, gives none away, and leaves no folder`, (t) =>
    run(t, undefined),
  );

if (process.env.ETCD !== undefined || process.env.CRASH_ROUNDS === undefined)
  t.test(
    `killed ${ROUNDS} times with its whole disk, it loses no paid minute and no file, gives none away, and leaves no object`,
    withoutEtcd === undefined ? {} : { skip: withoutEtcd },
    async (t) => {
      const seed = Number(process.env.SEED || Date.now() % 2 ** 31);
      t.comment(`seed of etcd's faults ${seed}`);
      const place = await CrashPlace.open({ beyondDisk: 'folder' }, new Random(seed));
      t.teardown(() => place.close({ keep: false }));
      await run(t, place);
    },
  );
