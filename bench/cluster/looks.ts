import { COPY_ROWS, DRAIN_ROWS, NODE_ROWS, OWNER_ROWS } from '../../src/cluster/members/node-rows.ts';
import { Etcd } from '../../src/cluster/stores/etcd.ts';
import type { EtcdServers } from '../../test/cluster/etcd-servers.ts';
import { processorTimes } from '../rig/thread-times.ts';

const SERVERS = [3, 10, 30, 100];
const SLOTS_EACH = 8;
const LOOKS = 40;
const SINCE = '2030-01-01T00:00:00.000Z';

const total = (pids: readonly number[]) =>
  pids.flatMap((pid) => Object.values(processorTimes(pid))).reduce((sum, ms) => sum + ms, 0);

/** Processor time of one look at all rows of a cluster with so many servers: of the server that looks, and of etcd. */
export async function looks(etcd: EtcdServers) {
  const kv = new Etcd(etcd.addresses);
  const found: Record<string, { readonly looking_ms: number; readonly etcd_ms: number }> = {};
  for (const servers of SERVERS) {
    const cluster = `looks-${servers}`;
    await fill(kv, cluster, servers);
    const ranges = [NODE_ROWS, DRAIN_ROWS, OWNER_ROWS, COPY_ROWS].map((kind) => kind.range(cluster));
    await kv.ranges(ranges);
    const [own, before] = [total([process.pid]), total(etcd.pids)];
    for (let look = 0; look < LOOKS; look++) await kv.ranges(ranges);
    const per = (ms: number) => Number((ms / LOOKS).toFixed(2));
    found[`${servers} servers`] = {
      looking_ms: per(total([process.pid]) - own),
      etcd_ms: per(total(etcd.pids) - before),
    };
  }
  kv.close();
  return found;
}

/** Rows as servers write them: each has as many slots, and another one follows them. */
async function fill(kv: Etcd, cluster: string, servers: number): Promise<void> {
  const node = (number: number) => `server-${number % servers}`;
  const puts = Array.from({ length: servers }, (_, number) => {
    const url = `http://10.0.0.${number}:8402`;
    const row = { url, version: '0.1.0', weight: 1, since: SINCE, ready: true, formats: [2] };
    return { key: NODE_ROWS.key(cluster, node(number)), value: NODE_ROWS.format(row) };
  });
  for (let slot = 0; slot < SLOTS_EACH * servers; slot++) {
    puts.push({ key: OWNER_ROWS.key(cluster, String(slot)), value: OWNER_ROWS.format({ node: node(slot) }) });
    for (const copy of [slot, slot + 1])
      puts.push({
        key: COPY_ROWS.key(cluster, `${slot}/${node(copy)}`),
        value: COPY_ROWS.format({ since: SINCE }),
      });
  }
  for (let from = 0; from < puts.length; from += 100)
    await kv.commit({ when: [], puts: puts.slice(from, from + 100) });
}
