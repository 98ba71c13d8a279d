import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { Address } from '../../../../src/protocol/address.ts';
import { newId, type TenantId } from '../../../../src/protocol/id.ts';
import { Owners } from '../../../../src/queues/owners.ts';
import { JobLimits } from '../../../../src/server/ingest/jobs/job-limits.ts';

/** Limits of jobs that take as long as the test says, and workspaces by who paid for them. */
function openLimits(atOnceMax: number) {
  const payers = new Map<string, Address>();
  const owners = new Owners();
  owners.join((id) => payers.get(id));
  const clock = { ms: 0 };
  const limits = new JobLimits(atOnceMax, owners, () => clock.ms);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const workspaceOf = (payer: number) => {
    const id = newId('workspace');
    payers.set(id, `0x${payer.toString(16).padStart(40, '0')}`);
    return id;
  };
  const push = (tenant: TenantId, name: string, seconds?: number) => {
    const begin = () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    };
    const controller = new AbortController();
    const { signal } = controller;
    return { controller, run: limits.run(tenant, begin, { seconds, signal }) };
  };
  /** A job that runs ends, after so many seconds. */
  const end = async (name: string, seconds = 0) => {
    clock.ms += seconds * 1000;
    ends.get(name)!();
    await setImmediate();
  };
  return { limits, owners, begun, workspaceOf, push, end };
}

t.test('five workspaces of one payer have the turns of one', async (t) => {
  const { begun, workspaceOf, push, end } = openLimits(1);
  const five = Array.from({ length: 5 }, () => workspaceOf(1));
  for (const [number, workspace] of five.entries()) push(workspace, `many${number}`, 1);
  const neighbour = workspaceOf(2);
  for (const name of ['n0', 'n1']) push(neighbour, name, 1);
  for (const name of ['many0', 'n0', 'many1', 'n1']) await end(name, 1);
  t.same(begun, ['many0', 'n0', 'many1', 'n1', 'many2']);
});

t.test('a short text waits behind none of eight owners’ long ones', async (t) => {
  const { begun, workspaceOf, push, end } = openLimits(4);
  for (let payer = 1; payer <= 8; payer++) push(workspaceOf(payer), `long${payer}`, 70);
  t.same(begun, ['long1', 'long2', 'long3'], 'a place stays free');
  const neighbour = workspaceOf(9);
  push(neighbour, 'short', 0.01);
  t.equal(begun.at(-1), 'short');
  await end('short', 0.1);
  push(neighbour, 'scan');
  t.equal(begun.at(-1), 'scan', 'nor does a file of any kind of who was quick before');
});

t.test('room for jobs: the owner of the most is refused, who has none finds room', (t) => {
  const { limits, workspaceOf } = openLimits(2);
  const unfinished: TenantId[] = [];
  limits.join(() => unfinished);
  const fill = (tenants: readonly TenantId[]) => {
    let count = 0;
    for (let tries = 0; tries < 1000; tries++) {
      const tenant = tenants[tries % tenants.length]!;
      try {
        limits.refuseBeyond(tenant, 1000);
      } catch {
        continue;
      }
      unfinished.push(tenant);
      count += 1;
    }
    return count;
  };
  const five = Array.from({ length: 5 }, () => workspaceOf(1));
  t.equal(fill(five), 500, 'five workspaces of one payer have half');
  t.throws(() => limits.refuseBeyond(five[0]!, 1000), { code: 'overloaded', retryAfterS: 5 });
  const others = [2, 3, 4, 5].map(workspaceOf);
  t.ok(fill(others) >= 4 * 50);
  t.ok(fill([workspaceOf(6)]) >= 30);
  for (let payer = 7; payer < 57; payer++)
    t.ok(fill([workspaceOf(payer)]) >= 1, 'fifty more payers that send all they can shut nobody out');
  t.end();
});
