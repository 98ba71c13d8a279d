import { setTimeout as pause } from 'node:timers/promises';
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts';
import { behind, type Kv, type KvRow, untilAnswered } from './kv.ts';
import type { Lease } from './lease.ts';
import { SlotLog } from './slot-log.ts';

export interface SlotLogsOptions {
  readonly kv: Kv;
  /** Name of the cluster: several may share an engine. */
  readonly cluster: string;
  /** Id of this process's node. */
  readonly node: string;
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

/** A claim of a slot. Revisions tell the claims on leases apart. */
export interface Claim {
  readonly revision: number;
  /** Of the last claim on a lease before; undefined where there was none. */
  readonly former: number | undefined;
}

/** The slots cannot be claimed; the message says why. */
export class ClaimError extends Error {}

/** They belong to another node. */
class OwnedError extends ClaimError {
  readonly node: string;

  constructor(key: string, node: string) {
    super(`${key} belongs to the node "${node}"`);
    this.node = node;
  }
}

/** Between two looks at slots that belong to another node. */
const LOOK_MS = 300;

const FORMAT = 2;
/** Of one transaction of etcd: 128. */
const CLAIMS_AT_ONCE = 64;
const CLAIM_TRIES_MAX = 5;

/**
 * Claims all slots of a cluster for this process, and opens their logs. What belongs to this node is taken over at once: a former process
 * with its id can write no more. Waits while the engine is away, and with a lease while another node has the slots. @throws ClaimError
 */
export async function openSlotLogs(options: SlotLogsOptions): Promise<SlotLog[]> {
  const { kv, cluster, slots, onLost, log, onCommitted } = options;
  const prefix = `/farthing/${cluster}/`;
  const lives = await untilAnswered(
    async () => {
      await agreeOnConfig(options, prefix);
      return claim(options, prefix);
    },
    ({ message }) => log?.({ event: 'log_answer_lost', error: message }),
  );
  const fenceOf = (slot: number) => ({ key: ownerKey(prefix, slot), revision: lives[slot]! });
  const commits = new GroupCommit({ kv, fenceOf, ...(log && { log }), ...(onCommitted && { onCommitted }) });
  return Array.from(
    { length: slots },
    (_, slot) =>
      new SlotLog({
        kv,
        prefix,
        slot,
        fence: fenceOf(slot),
        commits,
        onLost: (error) => onLost(slot, error),
        ...(log && { log }),
      }),
  );
}

/** The first process of a cluster decides on its number of slots. */
async function agreeOnConfig({ kv, cluster, slots }: SlotLogsOptions, prefix: string): Promise<void> {
  const key = `${prefix}config`;
  const value = Buffer.from(JSON.stringify({ format: FORMAT, slots }));
  if ((await kv.commit({ when: [{ key, revision: 0 }], puts: [{ key, value }] })).done) return;
  const [row] = await kv.range(key, `${key}\0`);
  const config = JSON.parse(Buffer.from(row!.value).toString()) as { format: number; slots: number };
  if (config.format !== FORMAT)
    throw new ClaimError(
      `the cluster "${cluster}" has format ${config.format}, and this Farthing reads ${FORMAT}: use the one that made it`,
    );
  if (config.slots !== slots)
    throw new ClaimError(`the cluster "${cluster}" has ${config.slots} slots, not ${slots}`);
}

/** @returns the revision of each slot's claim: its fence */
async function claim(options: SlotLogsOptions, prefix: string): Promise<number[]> {
  let awaited: string | undefined;
  for (let tries = 1; tries < CLAIM_TRIES_MAX; ) {
    try {
      const lives = await tryToClaim(options, prefix);
      if (lives) return lives;
      tries += 1;
    } catch (error) {
      if (!(error instanceof OwnedError && options.lease)) throw error;
      if (awaited !== error.node) options.log?.({ event: 'slots_awaited', of: error.node });
      awaited = error.node;
      await pause(LOOK_MS);
    }
  }
  throw new ClaimError('another process claims these slots at the same moment');
}

/** @returns undefined when an owner changed meanwhile: an attempt of this process whose answer was lost may arrive late */
async function tryToClaim(
  { kv, node, slots, lease, onClaimed }: SlotLogsOptions,
  prefix: string,
): Promise<number[] | undefined> {
  const rowsBelow = async (name: string) => {
    const all = `${prefix}${name}/`;
    return new Map((await kv.range(all, behind(all))).map((row) => [row.key, row]));
  };
  // A former attempt, whose answer was lost, may have claimed some.
  const owners = await rowsBelow('owner');
  const servers = await rowsBelow('served');
  const slotKeys = Array.from({ length: slots }, (_, slot) => {
    const [key, served] = [ownerKey(prefix, slot), servedKey(prefix, slot)];
    return { owner: { key, revision: revisionOf(owners.get(key), node) }, served };
  });
  const hung = lease && { lease: (await lease()).id };
  const value = Buffer.from(JSON.stringify({ node }));
  const lives: number[] = [];
  while (lives.length < slots) {
    const claimed = slotKeys.slice(lives.length, lives.length + CLAIMS_AT_ONCE);
    const { done, revision } = await kv.commit({
      // Who had a slot on a lease is kept apart: its claim vanished, and it may not have come and gone meanwhile.
      when: claimed.flatMap(({ owner, served }) => [
        owner,
        { key: served, revision: servers.get(served)?.revision ?? 0 },
      ]),
      puts: claimed.flatMap(({ owner: { key }, served }) =>
        hung
          ? [
              { key, value, ...hung },
              { key: served, value },
            ]
          : [{ key, value }],
      ),
    });
    if (!done) return undefined;
    lives.push(...claimed.map(() => revision));
  }
  for (const [slot, { served }] of slotKeys.entries())
    onClaimed?.(slot, { revision: lives[slot]!, former: servers.get(served)?.revision });
  return lives;
}

function revisionOf(owner: KvRow | undefined, node: string): number {
  if (!owner) return 0;
  const other = nodeOf(owner);
  if (other !== node) throw new OwnedError(owner.key, other);
  return owner.revision;
}

function nodeOf({ value }: KvRow): string {
  return (JSON.parse(Buffer.from(value).toString()) as { node: string }).node;
}

/** Says which node had the slot last, on a lease. */
function servedKey(prefix: string, slot: number): string {
  return `${prefix}served/${slot}`;
}

function ownerKey(prefix: string, slot: number): string {
  return `${prefix}owner/${slot}`;
}
