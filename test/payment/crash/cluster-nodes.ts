import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { CrashPlace } from '../../cluster/crash-place.ts';
import { Relay, type RelayWeather } from '../../cluster/relay.ts';
import { freePorts } from '../../rig/ports.ts';
import type { Random } from '../../rig/random.ts';
import { ClusterNode } from './cluster-node.ts';

/** Faults of a node. */
const EVENTS = ['killed', 'killed', 'killed', 'its disk lost', 'paused', 'paused', 'restarted'] as const;
const NODES = 3;
/** Longer than a lease. */
const PAUSE_MS_MAX = 7000;
/** Between nodes: questions and answers are delayed and lost, each way by itself. */
const PEER_WEATHER: RelayWeather = {
  delayMsMax: 40,
  delayed: 0.05,
  cutBefore: 0.004,
  cutAfter: 0.006,
  silent: 0.0005,
};

export interface CrashNodes {
  readonly nodes: readonly [ClusterNode, ...ClusterNode[]];
  /** How often each fault came to the ways between nodes. */
  readonly peerFaults: Readonly<Record<string, number>>;
  /** Ends the nodes without asking. */
  close(): Promise<void>;
}

/** Starts three nodes that share the slots of a place, with relays between them. Their disks lie in its folder. */
export async function startNodes(
  place: CrashPlace,
  settings: Readonly<Record<string, string>>,
  random: Random,
): Promise<CrashNodes> {
  const peerFaults: Record<string, number> = {};
  const ports = await freePorts(NODES);
  const relays = await Promise.all(
    ports.map((target) =>
      Relay.start({
        target,
        random: random.fork(),
        weather: PEER_WEATHER,
        onFault: (fault) => {
          peerFaults[fault] = (peerFaults[fault] ?? 0) + 1;
        },
      }),
    ),
  );
  const nodes = ports.map(
    (port, index) =>
      new ClusterNode({
        id: `n${index}`,
        port,
        peerUrl: `http://127.0.0.1:${relays[index]!.port}`,
        dataFolder: join(place.folder, `node-${index}`),
        settings,
      }),
  );
  return {
    nodes: nodes as [ClusterNode, ...ClusterNode[]],
    peerFaults,
    close: async () => {
      for (const node of nodes) node.destroy();
      await Promise.all(relays.map((relay) => relay.close()));
    },
  };
}

/** Something happens to a node; resolves once one that stood still goes on. @param onEvent told what, before it happens */
export async function befall(
  node: ClusterNode,
  random: Random,
  onEvent: (what: (typeof EVENTS)[number]) => void,
): Promise<void> {
  const what = random.pick(EVENTS);
  onEvent(what);
  if (what === 'restarted') node.restart();
  else if (what === 'paused') {
    node.pause();
    await after(random.below(PAUSE_MS_MAX));
    node.resume();
  } else node.kill({ losesDisk: what === 'its disk lost' });
}
