import type { EtcdServers } from '../../test/cluster/etcd-servers.ts';
import { quantile, type StartedServer } from '../rig/agent.ts';
import { processorTimes } from '../rig/thread-times.ts';

/** Processor milliseconds by part: the owner of a slot, the server that passes on, the other servers, etcd. */
export type Parts = Record<string, number>;

export interface Rig {
  readonly servers: readonly StartedServer[];
  readonly etcd: EtcdServers | undefined;
}

/** Processor times of all processes since their start. @param through the server that is asked; the first one has the slots of what is asked for */
export function used({ servers, etcd }: Rig, through: number): Parts {
  const sum = (pids: readonly number[]) =>
    pids.flatMap((pid) => Object.values(processorTimes(pid))).reduce((total, ms) => total + ms, 0);
  const pidsOf = (has: (index: number) => boolean) =>
    servers.filter((_, index) => has(index)).map(({ pid }) => pid);
  return {
    owner: sum(pidsOf((index) => index === 0)),
    passing_on: sum(pidsOf((index) => index !== 0 && index === through)),
    others: sum(pidsOf((index) => index !== 0 && index !== through)),
    etcd: sum(etcd?.pids ?? []),
  };
}

export const change = (before: Parts, after: Parts, per: number): Parts =>
  Object.fromEntries(Object.entries(after).map(([part, ms]) => [part, (ms - before[part]!) / per]));

export const medians = (all: readonly Parts[]): Parts =>
  Object.fromEntries(
    Object.keys(all[0]!).map((part) => [
      part,
      Number(
        quantile(
          all.map((one) => one[part]!),
          0.5,
        ).toFixed(3),
      ),
    ]),
  );
