import { setTimeout as after } from 'node:timers/promises';
import { CrashPlace } from '../../cluster/crash-place.ts';
import { Random } from '../../rig/random.ts';
import type { ClusterNode } from './cluster-node.ts';
import { befall, startNodes } from './cluster-nodes.ts';
import { CrashClient } from './crash-client.ts';
import { serverSettings } from './killed-server.ts';
import { judge } from './oracle.ts';
import { startOutsideFacilitator } from './outside/outside-facilitator.ts';

export interface ClusterReport {
  readonly seed: number;
  /** Count of each fault of nodes. */
  readonly events: Readonly<Record<string, number>>;
  /** How often a node ended by itself because its slots may be another's. */
  readonly gaveUp: number;
  readonly purchases: number;
  readonly answered: Readonly<Record<string, number>>;
  readonly charges: number;
  readonly found: number;
  readonly givenUp: number;
  /** How often each fault came to etcd, or to the way there; and to the ways between nodes. */
  readonly etcdFaults: Readonly<Record<string, number>>;
  readonly peerFaults: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

export interface ClusterRunOptions {
  readonly seed: number;
  readonly events: number;
  readonly clients: number;
  /** No event comes later than this many seconds after the start. */
  readonly secondsMax?: number;
}

const SLOTS = 6;
const BETWEEN_MS_MAX = 2500;
const PENDING_MS_MAX = 120_000;
/**
 * Three nodes that share their slots, under paid traffic in which each request goes to any of them, while nodes are killed, paused,
 * restarted and lose their disks, members of etcd falter, and connections between all of them are cut. The oracle compares the books
 * that the logs have at the end with those of the clients and of the facilitator.
 */
export async function runClusterCrashes({
  seed,
  events,
  clients,
  secondsMax = Number.POSITIVE_INFINITY,
}: ClusterRunOptions): Promise<ClusterReport> {
  const deadline = performance.now() + 1000 * secondsMax;
  const random = new Random(seed);
  const outside = await startOutsideFacilitator(random);
  const { transfers } = outside.ledger;
  const place = await CrashPlace.open({ beyondDisk: 'folder', sharedSlots: SLOTS }, random.fork());
  const settings = { ...serverSettings(place.folder, outside.settings), ...place.settings };
  const { nodes, peerFaults, close } = await startNodes(place, settings, random);
  const asking = random.fork();
  const going = {
    stopped: false,
    get url() {
      return asking.pick(nodes).url;
    },
  };
  const buyers = Array.from(
    { length: clients },
    (_, index) =>
      new CrashClient(
        random.fork(),
        going,
        { losesDisk: true, prepays: outside.provesAdvances && index % 2 === 1 },
        () => undefined,
      ),
  );
  const counts: Record<string, number> = {};
  const faults: string[] = [];
  let found = 0;
  const givenUp: string[] = [];
  const orphaned = () => {
    for (const node of nodes) node.destroy();
    void place.close({ keep: true });
  };
  process.once('exit', orphaned);
  try {
    await Promise.all(nodes.map((node) => node.ready));
    const bought = Promise.all(buyers.map((buyer) => buyer.run()));
    for (let event = 1; event <= events && performance.now() < deadline; event++) {
      await after(random.below(BETWEEN_MS_MAX));
      const node = random.pick(nodes);
      await befall(node, random, (what) => {
        counts[what] = (counts[what] ?? 0) + 1;
      });
      // As often as not the next event comes while this node is away.
      if (random.hits(0.5)) await node.ready;
    }
    await place.calm();
    await Promise.all(nodes.map((node) => node.ready));
    going.stopped = true;
    await bought;
    faults.push(...buyers.flatMap((buyer) => buyer.faults));
    if (faults.length === 0) {
      for (const uploads of await Promise.all(buyers.map((buyer) => buyer.findUploads()))) {
        found += uploads.found;
        givenUp.push(...uploads.givenUp);
      }
      faults.push(...buyers.flatMap((buyer) => buyer.faults), ...(await withoutPending(nodes)));
    }
    await Promise.all(nodes.map((node) => node.stop()));
    const last = await judge(
      await place.books(),
      transfers,
      buyers.flatMap((buyer) => buyer.purchases),
      { done: faults.length === 0, answersAfterNote: true, givenUp },
    );
    faults.push(...last.faults);
  } finally {
    process.off('exit', orphaned);
    going.stopped = true;
    await close();
    await outside.close();
    await place.close({ keep: faults.length > 0 });
  }
  const purchases = buyers.flatMap((buyer) => buyer.purchases);
  const answered: Record<string, number> = {};
  for (const { kind, answer } of purchases) if (answer) answered[kind] = (answered[kind] ?? 0) + 1;
  return {
    seed,
    events: counts,
    gaveUp: nodes.reduce((sum, node) => sum + node.gaveUp, 0),
    purchases: purchases.length,
    answered,
    charges: transfers.size,
    found,
    givenUp: givenUp.length,
    etcdFaults: place.etcdFaults,
    peerFaults,
    faults,
  };
}

/** Waits until no payment of any node is half-way. @returns what is wrong when some stay so */
async function withoutPending(nodes: readonly ClusterNode[]): Promise<string[]> {
  const givingUp = Date.now() + PENDING_MS_MAX;
  for (;;) {
    const pending = await Promise.all(nodes.map(pendingOf));
    if (pending.every((count) => count === 0)) return [];
    if (Date.now() > givingUp) return [`payments are pending for ever: ${pending.join(', ')} of each node`];
    await after(100);
  }
}

/** Undefined while a node that has lost its lease is starting again. */
async function pendingOf({ url }: ClusterNode): Promise<number | undefined> {
  try {
    const body = (await (await fetch(`${url}/readyz`)).json()) as { payment: { pending: number } };
    return body.payment.pending;
  } catch {
    return undefined;
  }
}
