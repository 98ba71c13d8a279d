import { resolve } from 'node:path';
import t from 'tap';
import { startServer } from '../../bench/rig/agent.ts';
import { BESIEGED } from '../../bench/siege/attacks.ts';
import { besiege, settle } from '../../bench/siege/siege.ts';
import { CACHE_DIR, FEW_WORKERS } from '../rig/test-server.ts';

/** What `make siege` measures, for a moment each, as far as it needs no clock: nobody who pays is refused, and nothing is left. */

const SECONDS = 2;
const SEARCHES_PER_SECOND = 5;
const MEMORY_MIB_MAX = 150;
/** A third of twelve times the largest file. */
const INCOMING_MIB_MAX = 256;
const NAMES = [
  'pipelined description',
  'MCP calls with many faults',
  'MCP bodies that drip',
  'search bodies of empty wallets that drip',
  'nested JSON from a cheap workspace',
  'uploads of empty wallets',
] as const;

// How long a query may wait on a busy machine is no matter of a test.
const settings = { ...BESIEGED, ...FEW_WORKERS, CACHE_DIR, QUERY_WAIT_MS_MAX: '0' };
const preload = resolve(import.meta.dirname, '../../bench/siege/probe.ts');
const server = await startServer(settings, { preload });
t.teardown(() => server.stop());
const { client, attacker } = await settle(server.url);
const target = {
  url: server.url,
  workspace: { path: new URL(attacker.url).pathname, token: attacker.token },
};

for (const name of NAMES) {
  t.test(`${name}: no search of a paying client is refused`, async (t) => {
    const order = { name, target };
    const seen = await besiege({
      server,
      client,
      order,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    t.same(seen.during.refused, {});
    t.equal(seen.during.answered, SECONDS * SEARCHES_PER_SECOND);
    t.ok(seen.memoryMib < MEMORY_MIB_MAX, `${seen.memoryMib.toFixed(0)} MiB more`);
    t.ok(seen.incomingMib < INCOMING_MIB_MAX, `${seen.incomingMib.toFixed(0)} MiB of uploads`);
    t.ok(seen.isGone, 'no trace is left');
  });
}
