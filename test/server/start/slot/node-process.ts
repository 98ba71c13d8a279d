import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { clusterSettings } from '../../../cluster/cluster-settings.ts';
import type { EtcdServers } from '../../../cluster/etcd-servers.ts';
import { FEW_WORKERS } from '../../../rig/test-server.ts';
import { spawnBuilt } from '../built-process.ts';

/** Settings shared by the servers of one cluster, each with a folder and an id of its own. */
export function clusterServerSettings(servers: EtcdServers, folder: string, name: string) {
  return {
    DEMO: '0',
    LOG_LEVEL: 'info',
    QUERY_WAIT_MS_MAX: '0',
    BASE_URL: 'http://127.0.0.1:8402',
    ...clusterSettings(servers, folder, name),
    FARTHING_CLUSTER_LEASE_SECONDS: '3',
    ...FEW_WORKERS,
  };
}

/** A server as a process, which may still be waiting. */
export class NodeProcess {
  readonly child: ReturnType<typeof spawnBuilt>['child'];
  readonly ended: ReturnType<typeof spawnBuilt>['ended'];
  readonly #events: Record<string, unknown>[] = [];
  readonly #looking: (() => void)[] = [];

  constructor(t: Test, environment: Record<string, string>) {
    const { child, ended } = spawnBuilt(t, environment);
    this.child = child;
    this.ended = ended;
    createInterface(child.stdout!).on('line', (line) => {
      if (line.startsWith('{')) this.#events.push(JSON.parse(line));
      for (const look of this.#looking.splice(0)) look();
    });
  }

  /** The first such event, which may have come already. */
  async event(name: string): Promise<Record<string, unknown>> {
    return (await this.events(name, 1))[0]!;
  }

  /** All such events, once there are so many. */
  async events(name: string, count: number): Promise<Record<string, unknown>[]> {
    for (;;) {
      const found = this.seen(name);
      if (found.length >= count) return found;
      await this.next();
    }
  }

  /** All such events that have come. */
  seen(name: string): Record<string, unknown>[] {
    return this.#events.filter(({ event }) => event === name);
  }

  /** Resolves with the next line. */
  next(): Promise<void> {
    return new Promise((look) => this.#looking.push(look));
  }

  has(name: string): boolean {
    return this.seen(name).length > 0;
  }

  async url(): Promise<string> {
    return (await this.event('ready')).url as string;
  }
}
