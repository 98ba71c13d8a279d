import { setTimeout as pause } from 'node:timers/promises';
import { agreeOnConfig } from '../members/cluster-config.ts';
import { type Claim, ClaimError, OwnedError, tryToClaim } from '../members/slot-claims.ts';
import { GroupCommit, type GroupCommitOptions } from '../stores/group-commit.ts';
import { type Kv, untilAnswered } from '../stores/kv.ts';
import type { Lease } from '../stores/lease.ts';
import { SlotLog } from './slot-log.ts';

export interface SlotLogsOptions {
  readonly kv: Kv;
  /** Name of the cluster: several may share an engine. */
  readonly cluster: string;
  /** Id of this process's node. */
  readonly node: string;
  /** As of `ConfigOptions`. */
  readonly money?: string;
  readonly slots: number;
  /** A slot is lost: another process has claimed it, or its copy cannot follow its log. */
  readonly onLost: (slot: number, error: unknown) => void;
  readonly log?: (event: object) => void;
  readonly onCommitted?: GroupCommitOptions['onCommitted'];
  /**
   * Takes the lease on which the claim is to hang: it is asked for when the slots are free, and while another node has them this one waits.
   * Absent: a claim stays, and slots of another node are refused.
   */
  readonly lease?: () => Promise<Pick<Lease, 'id'>>;
  readonly onClaimed?: (slot: number, claim: Claim) => void;
}

/** Milliseconds between two looks at slots that belong to another node. */
const LOOK_MS = 300;

const CLAIM_TRIES_MAX = 5;

/** Prefix of all keys of a cluster. */
export function prefixOf(cluster: string): string {
  return `/farthing/${cluster}/`;
}

/**
 * Claims all slots of a cluster for this process, and opens their logs. Slots of this node are taken over at once: a former process with
 * its id can write no more. Waits while the engine is away, and with a lease while another node has the slots.
 * @throws ClaimError
 */
export async function openSlotLogs(options: SlotLogsOptions): Promise<SlotLog[]> {
  const { kv, cluster, onLost, log, onCommitted, onClaimed } = options;
  const claims = await untilAnswered(
    async () => {
      await agreeOnConfig(options);
      return claimAll(options);
    },
    ({ message }) => log?.({ event: 'log_answer_lost', error: message }),
  );
  const commits = new GroupCommit({ kv, ...(log && { log }), ...(onCommitted && { onCommitted }) });
  return Array.from(claims, ([slot, claim]) => {
    onClaimed?.(slot, claim);
    return new SlotLog({
      kv,
      prefix: prefixOf(cluster),
      slot,
      fence: claim.fence,
      commits,
      onLost: (error) => onLost(slot, error),
      ...(log && { log }),
    });
  });
}

/** @returns the claim of each slot */
async function claimAll({
  kv,
  cluster,
  node,
  slots,
  lease,
  log,
}: SlotLogsOptions): Promise<ReadonlyMap<number, Claim>> {
  let awaited: string | undefined;
  const all = Array.from({ length: slots }, (_, slot) => slot);
  for (let tries = 1; tries < CLAIM_TRIES_MAX; ) {
    try {
      const claims = await tryToClaim({ kv, prefix: prefixOf(cluster), node, ...(lease && { lease }) }, all);
      if (claims) return claims;
      tries += 1;
    } catch (error) {
      if (!(error instanceof OwnedError && lease)) throw error;
      if (awaited !== error.node) log?.({ event: 'slots_awaited', of: error.node });
      awaited = error.node;
      await pause(LOOK_MS);
    }
  }
  throw new ClaimError('another process claims these slots at the same moment');
}
