import type { LoadClusterTools } from '@farthing/server/operator/cluster-tools';
import type { Settings } from '@farthing/server/settings/settings';
import { type Running, type StartChanges, start as startServer } from '@farthing/server/start/start';
import type { StartProgress } from '@farthing/server/start/terminal/progress';
import type { OpenTopology } from '@farthing/server/wiring/topology';

/** Checks and commands for several servers; one server never loads them. */
export const clusterTools: LoadClusterTools = () => import('@farthing/cluster');

const openCluster: OpenTopology = async (options) => (await import('@farthing/cluster')).openCluster(options);

/** Starts a server: one, or with `FARTHING_CLUSTER` one of several. @throws as the server's own `start` */
export function start(
  settings: Settings,
  changes: StartChanges = {},
  progress?: StartProgress,
): Promise<Running> {
  return startServer(settings, { ...changes, cluster: { open: openCluster, tools: clusterTools } }, progress);
}
