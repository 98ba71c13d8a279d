import { prefixOf } from '../../../src/cluster/log/slot-logs.ts';
import { COPY_ROWS, NODE_ROWS, OWNER_ROWS } from '../../../src/cluster/members/node-rows.ts';
import type { Kv, KvTransaction, Leases, Watches } from '../../../src/cluster/stores/kv.ts';
import { CLUSTER } from './books.ts';

/** Faults that are planted to see whether they are found. */
export type Plant =
  | 'writes without a fence'
  | 'takes a lost answer for a yes'
  | 'answers without a lease'
  | 'answers before the log has it'
  | 'claims without a lease'
  | 'goes on from a copy that it did not check'
  | 'serves a copy without the rest of the log'
  | 'goes on behind a snapshot that its copy lacks'
  | 'says of a copy that is there that it is removed'
  | 'keeps a copy that it said was removed'
  | 'follows without saying so'
  | 'does not say what it cannot open';

type Put = NonNullable<KvTransaction['puts']>[number];

/** A way to the engine that spoils what goes over it. */
export function planted(kv: Kv & Leases & Watches, plant: Plant): Kv & Leases & Watches {
  const over: Kv & Leases & Watches = Object.create(kv);
  over.commit = (transaction) => {
    const commit = kv.commit(spoilt(transaction, plant));
    if (plant !== 'takes a lost answer for a yes' || !hasEntry(transaction)) return commit;
    return commit.catch(() => ({ done: true, revision: 0 }));
  };
  for (const name of ['range', 'ranges', 'grant', 'renew', 'revoke', 'watch'] as const)
    Object.assign(over, { [name]: (kv[name] as (...words: unknown[]) => unknown).bind(kv) });
  return over;
}

function spoilt(transaction: KvTransaction, plant: Plant): KvTransaction {
  const { puts = [] } = transaction;
  const isOf = ({ key }: Put, { range }: { range: (cluster: string) => { from: string } }) =>
    key.startsWith(range(CLUSTER).from);
  if (plant === 'writes without a fence' && hasEntry(transaction)) return { ...transaction, when: [] };
  if (plant === 'claims without a lease')
    return {
      ...transaction,
      puts: puts.map((put) => (isOf(put, OWNER_ROWS) ? { key: put.key, value: put.value } : put)),
    };
  if (plant === 'follows without saying so')
    return { ...transaction, puts: puts.filter((put) => !isOf(put, COPY_ROWS)) };
  if (plant === 'does not say what it cannot open')
    return {
      ...transaction,
      puts: puts.map((put) => {
        if (!isOf(put, NODE_ROWS)) return put;
        const { unable: _, ...row } = NODE_ROWS.parse(put.key, put.value);
        return { ...put, value: NODE_ROWS.format(row) };
      }),
    };
  return transaction;
}

function hasEntry({ puts = [] }: KvTransaction): boolean {
  return puts.some(({ key }) => key.startsWith(`${prefixOf(CLUSTER)}log/`));
}
