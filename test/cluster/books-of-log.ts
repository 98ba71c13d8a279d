import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyEntries } from '../../src/cluster/log/recorded-store.ts';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
import { Etcd } from '../../src/cluster/stores/etcd.ts';
import { Lease } from '../../src/cluster/stores/lease.ts';
import { claimBookFolders } from '../../src/server/state/book-folders.ts';
import { openStore } from '../../src/server/state/store.ts';

/**
 * Makes a data folder with the books that the slots' logs hold, from nothing else; the server is dead.
 * @param leaseSeconds of servers that wait for each other: this waits like them, as a node of its own
 */
export async function makeBooksOfLogs(
  addresses: readonly string[],
  {
    cluster,
    slots,
    folder,
    leaseSeconds,
  }: { cluster: string; slots: number; folder: string; leaseSeconds?: number | undefined },
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const kv = new Etcd(addresses);
  let lease: Lease | undefined;
  const takeLease = async () => {
    lease ??= await Lease.take({ leases: kv, seconds: leaseSeconds!, onLost: () => undefined });
    return lease;
  };
  try {
    const logs = await openSlotLogs({
      kv,
      cluster,
      node: leaseSeconds === undefined ? 'n1' : 'judge',
      slots,
      onLost: () => undefined,
      ...(leaseSeconds !== undefined && { lease: takeLease }),
    });
    for (const [slot, inFolder] of (await claimBookFolders(folder, slots)).entries()) {
      const store = openStore(join(inFolder, 'state'));
      const { entries } = await logs[slot]!.open(undefined);
      const all: Uint8Array[] = [];
      for await (const entry of entries) all.push(entry);
      await applyEntries(store, all, logs[slot]!.position);
      await store.close();
    }
  } finally {
    await lease?.end();
    kv.close();
  }
}
