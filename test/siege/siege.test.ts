import { resolve } from 'node:path';
import t from 'tap';
import { startServer } from '../../bench/rig/agent.ts';
import { ATTACKS, BESIEGED } from '../../bench/siege/attacks.ts';
import { besiege, settle } from '../../bench/siege/siege.ts';
import { CACHE_DIR } from '../rig/test-server.ts';

/** What `make siege` measures, for a moment each, as far as it needs no clock: nobody who pays is refused, and nothing is left. */

const SECONDS = 2;
const MEMORY_MIB_MAX = 150;
/** A third of what uploads may take on the disk is for those that nobody is known to pay for. */
const INCOMING_MIB_MAX = 256;
const NAMES = [
  'pipelined description',
  'MCP calls with many faults',
  'MCP bodies that drip',
  'search bodies of empty wallets that drip',
  'nested JSON from a cheap workspace',
  'uploads of empty wallets',
] as const;

for (const name of NAMES) {
  t.test(`${name}: the paying client notices nothing that is said`, async (t) => {
    t.ok(ATTACKS[name], 'it is one of the attacks');
    const probe = resolve(import.meta.dirname, '../../bench/siege/probe.ts');
    // How long a query may wait on a busy machine is no matter of a test.
    const settings = {
      ...BESIEGED,
      CACHE_DIR,
      QUERY_WAIT_MS_MAX: '0',
      QUERY_WORKERS: '1',
      INGEST_WORKERS: '1',
    };
    const server = await startServer(settings, { preload: probe });
    t.teardown(() => server.stop());
    const { client, attacker } = await settle(server.url);
    const target = {
      url: server.url,
      workspace: { path: new URL(attacker.url).pathname, token: attacker.token },
    };
    const order = { name, target };
    const seen = await besiege({ server, client, order, seconds: SECONDS, searchesPerSecond: 5 });
    t.same(seen.during.refused, {}, 'none of its searches is refused');
    t.equal(seen.during.answered, 5 * SECONDS);
    t.ok(seen.memoryMib < MEMORY_MIB_MAX, `${seen.memoryMib.toFixed(0)} MiB more`);
    t.ok(seen.incomingMib < INCOMING_MIB_MAX, `${seen.incomingMib.toFixed(0)} MiB of uploads`);
    t.ok(seen.isGone, 'no trace is left');
  });
}
