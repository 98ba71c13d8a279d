import type { Kv, KvCondition, KvRow } from '../stores/kv.ts';
import type { Lease } from '../stores/lease.ts';

/** A claim of a slot. */
export interface Claim {
  /** Holds while the slot is this process's; its revision tells the claims on leases apart. */
  readonly fence: KvCondition;
  /** Revision of the last claim on a lease before; undefined where there was none. */
  readonly former: number | undefined;
}

export interface Claiming {
  readonly kv: Kv;
  /** Prefix of all keys of the cluster. */
  readonly prefix: string;
  /** Id of this process's node. */
  readonly node: string;
  /** Takes the lease on which claims are to hang, once the slots are free. Absent: a claim stays. */
  readonly lease?: () => Promise<Pick<Lease, 'id'>>;
}

/** The slots cannot be claimed; the message says why. */
export class ClaimError extends Error {}

/** They belong to another node. */
export class OwnedError extends ClaimError {
  readonly node: string;

  constructor(key: string, node: string) {
    super(`${key} belongs to the node "${node}"`);
    this.node = node;
  }
}

/** Rows that are read, and changes that are made, in one transaction of etcd. */
const ROWS_AT_ONCE = 128;
const CLAIMS_AT_ONCE = ROWS_AT_ONCE / 2;

/**
 * Claims slots, and takes over those of a former process of this node.
 * @returns undefined when an owner changed in between: an attempt of this process whose answer was lost may arrive late
 * @throws OwnedError, AnswerLostError
 */
export async function tryToClaim(
  { kv, prefix, node, lease }: Claiming,
  slots: readonly number[],
): Promise<ReadonlyMap<number, Claim> | undefined> {
  // A former attempt, whose answer was lost, may have claimed some.
  const found = await rowsOf(
    kv,
    slots.flatMap((slot) => [ownerKey(prefix, slot), servedKey(prefix, slot)]),
  );
  const wanted = slots.map((slot) => {
    const [key, served] = [ownerKey(prefix, slot), servedKey(prefix, slot)];
    const former = found.get(served)?.revision;
    return { slot, owner: { key, revision: revisionOf(found.get(key), node) }, served, former };
  });
  const hung = lease && { lease: (await lease()).id };
  const value = Buffer.from(JSON.stringify({ node }));
  const claims = new Map<number, Claim>();
  while (claims.size < slots.length) {
    const next = wanted.slice(claims.size, claims.size + CLAIMS_AT_ONCE);
    const { done, revision } = await kv.commit({
      // The owner on a lease is recorded separately: its claim vanished, and it must not have come and gone in between.
      when: next.flatMap(({ owner, served, former = 0 }) => [owner, { key: served, revision: former }]),
      puts: next.flatMap(({ owner: { key }, served }) =>
        hung
          ? [
              { key, value, ...hung },
              { key: served, value },
            ]
          : [{ key, value }],
      ),
    });
    if (!done) return undefined;
    for (const { slot, owner, former } of next)
      claims.set(slot, { fence: { key: owner.key, revision }, former });
  }
  return claims;
}

/** Rows by their keys. @returns those that there are */
async function rowsOf(kv: Kv, keys: readonly string[]): Promise<ReadonlyMap<string, KvRow>> {
  const found = new Map<string, KvRow>();
  for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
    const ranges = keys.slice(from, from + ROWS_AT_ONCE).map((key) => ({ from: key, to: `${key}\0` }));
    for (const row of (await kv.ranges(ranges)).flat()) found.set(row.key, row);
  }
  return found;
}

/** Gives a claim back, unless it is another process's by now. @throws AnswerLostError */
export async function releaseClaim(kv: Kv, { fence }: Claim): Promise<void> {
  await kv.commit({ when: [fence], deletes: [{ from: fence.key, to: `${fence.key}\0` }] });
}

/**
 * Gives back a claim that this node has and knows nothing of: of an attempt whose answer was lost. No attempt for the slot is under way here.
 * @throws AnswerLostError
 */
export async function releaseStray(
  { kv, prefix, node }: Pick<Claiming, 'kv' | 'prefix' | 'node'>,
  slot: number,
): Promise<void> {
  const key = ownerKey(prefix, slot);
  const [row] = await kv.range(key, `${key}\0`);
  if (!row || nodeOf(row) !== node) return;
  await kv.commit({ when: [{ key, revision: row.revision }], deletes: [{ from: key, to: `${key}\0` }] });
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
