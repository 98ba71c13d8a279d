import t from 'tap';
import { ATTACKS } from '../../bench/siege/attacks.ts';
import { besiege } from '../../bench/siege/siege.ts';
import { openStage } from '../../bench/siege/stage.ts';
import { deep } from '../rig/deep.ts';
import { CACHE_DIR, FEW_WORKERS } from '../rig/test-server.ts';

/** What `make siege` measures, for a moment each, as far as it needs no clock: nobody who pays is refused, and nothing is left. */

const SECONDS = deep(1, 6);
const SEARCHES_PER_SECOND = 5;
const MEMORY_MIB_MAX = 150;
/** What strangers may have on the disk: four of the largest files. A Tenant may have eight. */
const INCOMING_MIB_MAX = 4 * 64;
const TENANT_INCOMING_MIB_MAX = 8 * 64;
/** Those of one line run side by side. */
const QUICK = [
  ['pipelined description', 'MCP calls with many faults', 'event streams of a cheap workspace'],
  ['search bodies of empty wallets that drip', 'descriptions that nobody reads'],
  ['long texts of 24 payers'],
];

// How long a query may wait on a busy machine is no matter of a test.
const settings = { ...FEW_WORKERS, CACHE_DIR, QUERY_WAIT_MS_MAX: '0' };
const shared = await openStage(QUICK[0]![0]!, settings);
t.teardown(() => shared.stop());

for (const names of deep(
  QUICK,
  Object.keys(ATTACKS).map((name) => [name]),
)) {
  t.test(`${names.join(', ')}: no search or upload of a paying client is refused`, async (t) => {
    // What payers have waiting stays for minutes: the next row would begin beside all of them.
    const isApart = names.some(
      (name) => ATTACKS[name]!.facilitatorCallsPerSecond !== undefined || / payers\b/.test(name),
    );
    const stage = isApart ? await openStage(names[0]!, settings) : shared;
    if (isApart) t.teardown(() => stage.stop());
    const seen = await besiege({
      ...stage,
      attacks: names,
      secondsBefore: 0,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    t.same(seen.during.refused, {});
    t.equal(seen.during.answered, SECONDS * SEARCHES_PER_SECOND);
    t.same(seen.uploadsDuring.refused, {});
    t.equal(seen.uploadsDuring.answered, SECONDS);
    t.ok(seen.memoryMib < MEMORY_MIB_MAX, `${seen.memoryMib.toFixed(0)} MiB more`);
    const byTenant = names.some((name) => name.includes('cheap workspace'));
    const incomingMibMax = byTenant ? TENANT_INCOMING_MIB_MAX : INCOMING_MIB_MAX;
    t.ok(seen.incomingMib <= incomingMibMax, `${seen.incomingMib.toFixed(0)} MiB of uploads`);
    t.ok(seen.isGone, 'no trace is left');
  });
}
