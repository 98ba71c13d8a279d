import { resolve } from 'node:path';
import t from 'tap';
import { startServer } from '../../bench/rig/agent.ts';
import { ATTACKS, BESIEGED } from '../../bench/siege/attacks.ts';
import { besiege, settle } from '../../bench/siege/siege.ts';
import { deep } from '../rig/deep.ts';
import { CACHE_DIR, FEW_WORKERS } from '../rig/test-server.ts';

/** What `make siege` measures, for a moment each, as far as it needs no clock: nobody who pays is refused, and nothing is left. */

const SECONDS = deep(1, 6);
const SEARCHES_PER_SECOND = 5;
const MEMORY_MIB_MAX = 150;
/** The heaps of the two readers that may read for one Tenant: documents made to be slow fill them. */
const READERS_MIB_MAX = 2 * 384;
/** A third of twelve times the largest file. */
const INCOMING_MIB_MAX = 256;
/** Those of one line run side by side. */
const QUICK = [
  ['pipelined description', 'MCP calls with many faults', 'event streams of a cheap workspace'],
  ['search bodies of empty wallets that drip'],
];

// How long a query may wait on a busy machine is no matter of a test.
const settings = { ...BESIEGED, ...FEW_WORKERS, CACHE_DIR, QUERY_WAIT_MS_MAX: '0' };
const preload = resolve(import.meta.dirname, '../../bench/siege/probe.ts');
const server = await startServer(settings, { preload });
t.teardown(() => server.stop());
const { client, attacker } = await settle(server.url);
const target = {
  url: server.url,
  folder: server.folder,
  workspace: { path: new URL(attacker.url).pathname, token: attacker.token },
};

for (const names of deep(
  QUICK,
  Object.keys(ATTACKS).map((name) => [name]),
)) {
  t.test(`${names.join(', ')}: no search of a paying client is refused`, async (t) => {
    const seen = await besiege({
      server,
      client,
      orders: names.map((name) => ({ name, target })),
      secondsBefore: 0,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    t.same(seen.during.refused, {});
    t.equal(seen.during.answered, SECONDS * SEARCHES_PER_SECOND);
    const memoryMibMax = names.includes('slow documents in a cheap workspace')
      ? READERS_MIB_MAX
      : MEMORY_MIB_MAX;
    t.ok(seen.memoryMib < memoryMibMax, `${seen.memoryMib.toFixed(0)} MiB more`);
    t.ok(seen.incomingMib < INCOMING_MIB_MAX, `${seen.incomingMib.toFixed(0)} MiB of uploads`);
    t.ok(seen.isGone, 'no trace is left');
  });
}
