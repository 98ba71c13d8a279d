import { toTimestamp } from '@farthing/protocol/clock';
import type { KeptFact } from '@farthing/protocol/schema/workspaces';
import type { Settings } from '../settings/settings.ts';

const DAY_MS = 86_400_000;

/** Data of a workspace that stays elsewhere after its disposal, as its receipt lists it. */
export function keptInLedger(
  { JOURNAL_KEEP_DAYS }: Settings,
  disposedAt: number,
  wasPaid: boolean,
): KeptFact[] {
  const facts: KeptFact[] = [
    {
      what: 'its payments: wallets, amounts, times, transactions and hashes of the requests',
      why: 'the books',
      until: toTimestamp(disposedAt + JOURNAL_KEEP_DAYS * DAY_MS),
    },
    {
      what: 'ids and states of its jobs',
      why: 'dropped together with others, a day or more after they ended',
      until: null,
    },
  ];
  return wasPaid ? facts : facts.slice(1);
}

/** etcd keeps what was deleted in its files for a while. */
export const KEPT_IN_ETCD: readonly KeptFact[] = [
  {
    what: 'its key, encrypted under the cluster key, in files of the log',
    why: 'they drop what was deleted with time; it opens nothing that is left',
    until: null,
  },
];

/** @param nodes ids of former owners and standbys that have not confirmed that their disks are clean */
export function keptByNodes(nodes: readonly string[]): KeptFact[] {
  return nodes.map((id) => ({
    what: `files and index, on the disk of the server ${id}`,
    why: 'it was away when the workspace ended, and removes them before it answers again',
    until: null,
  }));
}
