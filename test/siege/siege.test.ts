import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ATTACKS, attack, BESIEGED } from '../../bench/siege/attacks.ts';
import { besiege } from '../../bench/siege/siege.ts';
import { openStage } from '../../bench/siege/stage.ts';
import { deep } from '../rig/deep.ts';
import { CACHE_DIR, FEW_WORKERS, startTestServer, TestAgent } from '../rig/test-server.ts';
import { countTurns } from './turns.ts';

/**
 * The attacks of `make siege`, for a moment each: nobody who pays is refused, nothing is left, and ten words of a stranger wait for a few
 * pieces of others' work.
 */

const SECONDS = deep(1, 3);
const SEARCHES_PER_SECOND = 5;
/**
 * 250 MiB of it start with any client's first files of their kind, and end when idle: a second process that opens files and one that reads
 * them, the picture model's worker, and the reader of OCR.
 */
const MEMORY_MIB_MAX = 350;
/** Most bytes of unproven clients on the disk: four of the largest files. A Tenant may have eight. */
const INCOMING_MIB_MAX = 4 * 64;
const TENANT_INCOMING_MIB_MAX = 8 * 64;
const LEAVES_WORK = / payers\b|slow documents|uploads to|event streams/;
/** Attacks of one entry run side by side. In depth each runs apart, and attacks of many payers in one size only. */
const MANY_PAYERS = 'long texts of 24 payers';
const QUICK = [
  ['pipelined description', 'MCP calls with many faults', 'event streams of a cheap workspace'],
  ['search bodies of empty wallets that drip', 'descriptions that nobody reads'],
  [MANY_PAYERS],
];

// How long a query may wait on a busy machine is no matter of a test.
const settings = { ...FEW_WORKERS, CACHE_DIR, QUERY_WAIT_MS_MAX: '0' };
const shared = await openStage(QUICK[0]![0]!, settings);
t.teardown(() => shared.stop());

for (const names of deep(
  QUICK,
  Object.keys(ATTACKS)
    .filter((name) => name === MANY_PAYERS || !name.startsWith('long texts of'))
    .map((name) => [name]),
)) {
  t.test(`${names.join(', ')}: no search or upload of a paying client is refused`, async (t) => {
    // Files that wait to be read stay for minutes: the next row would begin beside them.
    const isApart = names.some(
      (name) => ATTACKS[name]!.facilitatorCallsPerSecond !== undefined || LEAVES_WORK.test(name),
    );
    // Many payers take the processors for as long as they are waited for.
    const seconds = names.includes(MANY_PAYERS) ? 1 : SECONDS;
    const stage = isApart ? await openStage(names[0]!, settings) : shared;
    if (isApart) t.teardown(() => stage.stop());
    const seen = await besiege({
      ...stage,
      attacks: names,
      secondsBefore: 0,
      seconds,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    t.same(seen.during.refused, {});
    t.equal(seen.during.answered, seconds * SEARCHES_PER_SECOND);
    t.same(seen.uploadsDuring.refused, {});
    t.equal(seen.uploadsDuring.answered, seconds);
    t.ok(seen.memoryMib < MEMORY_MIB_MAX, `${seen.memoryMib.toFixed(0)} MiB more`);
    const byTenant = names.some((name) => name.includes('cheap workspace'));
    const incomingMibMax = byTenant ? TENANT_INCOMING_MIB_MAX : INCOMING_MIB_MAX;
    t.ok(seen.incomingMib <= incomingMibMax, `${seen.incomingMib.toFixed(0)} MiB of uploads`);
    t.ok(seen.isGone, 'no trace is left');
  });
}

/** Owners with work beside the one who uploads ten words. */
const OWNERS: Readonly<Record<string, number>> = {
  'files of eight payers that draw without end': 8,
  'slow documents in a cheap workspace': 1,
  ...deep<Record<string, number>>({}, { [MANY_PAYERS]: 24, 'nested web pages in a cheap workspace': 1 }),
};
const UPLOADS = deep(2, 6);

for (const [name, owners] of Object.entries(OWNERS)) {
  t.test(`${name}: ten words wait for one piece of each owner at most`, async (t) => {
    const server = await startTestServer(t, BESIEGED);
    const [payer, attacker] = [new TestAgent(server.url), new TestAgent(server.url)];
    const [client, { id, token }] = [await payer.rent(), await attacker.rent()];
    const words = () => `Ten words of a log that nobody has written: ${randomUUID()}`;
    await client.ingest('first.txt', words());
    const turns = countTurns();
    t.teardown(turns.end);
    const over = new AbortController();
    const target = {
      url: server.url,
      folder: server.dataFolder,
      workspace: { path: `/agent/v1/workspaces/${id}`, token },
    };
    const begun = Promise.withResolvers<void>();
    const attacking = attack(name, target, over.signal, begun.resolve);
    await begun.promise;
    for (let upload = 0; upload < UPLOADS; upload++) {
      const from = turns.waits.length;
      const { body } = await client.ingest(`${upload}.txt`, words());
      t.match(body, { job: { state: 'searchable' } });
      const own = turns.waits
        .slice(from)
        .filter(({ owner }) => owner.includes(payer.account.address.toLowerCase()));
      t.ok(own.length > 0, 'it waited in a queue');
      for (const { others } of own) t.ok(others <= owners, `${others} pieces of others before it`);
    }
    over.abort();
    await attacking;
  });
}
