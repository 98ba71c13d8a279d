import { GroupCommit, type GroupCommitOptions } from './group-commit.ts';
import { behind, type Kv, type KvRow, untilAnswered } from './kv.ts';
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
}

/** The slots cannot be claimed; the message says why. */
export class ClaimError extends Error {}

const FORMAT = 2;
/** Of one transaction of etcd: 128. */
const CLAIMS_AT_ONCE = 64;
const CLAIM_TRIES_MAX = 5;

/**
 * Claims all slots of a cluster for this process, and opens their logs. What belongs to this node is taken over at once: a former process
 * with its id can write no more. Waits while the engine is away. @throws ClaimError
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
  for (let tries = 1; tries < CLAIM_TRIES_MAX; tries++) {
    const lives = await tryToClaim(options, prefix);
    if (lives) return lives;
  }
  throw new ClaimError('another process claims these slots at the same moment');
}

/** @returns undefined when an owner changed meanwhile: an attempt of this process whose answer was lost may arrive late */
async function tryToClaim(
  { kv, node, slots }: SlotLogsOptions,
  prefix: string,
): Promise<number[] | undefined> {
  const all = `${prefix}owner/`;
  // A former attempt, whose answer was lost, may have claimed some.
  const owners = new Map((await kv.range(all, behind(all))).map((row) => [row.key, row]));
  const lives: number[] = [];
  while (lives.length < slots) {
    const keys = Array.from({ length: Math.min(CLAIMS_AT_ONCE, slots - lives.length) }, (_, index) =>
      ownerKey(prefix, lives.length + index),
    );
    const when = keys.map((key) => ({ key, revision: revisionOf(owners.get(key), node) }));
    const value = Buffer.from(JSON.stringify({ node }));
    const { done, revision } = await kv.commit({ when, puts: keys.map((key) => ({ key, value })) });
    if (!done) return undefined;
    lives.push(...keys.map(() => revision));
  }
  return lives;
}

function revisionOf(owner: KvRow | undefined, node: string): number {
  if (!owner) return 0;
  const { node: other } = JSON.parse(Buffer.from(owner.value).toString()) as { node: string };
  if (other !== node) throw new ClaimError(`${owner.key} belongs to the node "${other}"`);
  return owner.revision;
}

function ownerKey(prefix: string, slot: number): string {
  return `${prefix}owner/${slot}`;
}
