import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EtcdServers } from './etcd-servers.ts';

/** Settings of a server with its books in a cluster of this etcd and its content in a folder of objects: `<name>-objects` in `folder`. */
export function clusterSettings(servers: EtcdServers, folder: string, name: string) {
  const objects = join(folder, `${name}-objects`);
  mkdirSync(objects, { recursive: true });
  return {
    FARTHING_CLUSTER: servers.cluster(name),
    FARTHING_OBJECTS: `file://${objects}`,
    FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex'),
  };
}
