import { statfsSync } from 'node:fs';
import type { Finding, Snapshot } from '@farthing/protocol/schema/operator';
import type { Logger } from 'pino';
import type { Services } from '../../http/access/services.ts';
import { Cors } from '../../http/exchange/cors.ts';
import { listenAt } from '../../http/exchange/listen-at.ts';
import type { Server } from '../../http/exchange/server.ts';
import { operateRoutes } from '../../http/pages/operate.ts';
import type { Settings } from '../../settings/settings.ts';
import type { LoadClusterTools } from '../cluster-tools.ts';
import { examineRunning } from '../doctor/doctor.ts';
import { screenOf } from '../finding.ts';
import type { RunningSnapshot } from './snapshot.ts';
import { statusText } from './status-text.ts';

export interface OperatorPageDeps {
  readonly settings: Settings;
  /** The server's state now. */
  readonly snapshot: () => RunningSnapshot;
  readonly services: Pick<Services, 'readiness' | 'onFault'>;
  readonly cluster: LoadClusterTools;
  readonly log: Logger;
}

/** Serves the operator's page on loopback; undefined where the settings don't want it. @throws ConfigError for a taken port */
export async function openOperatorPage(deps: OperatorPageDeps): Promise<Server | undefined> {
  const { settings, services, cluster, log } = deps;
  if (settings.ADMIN_PORT === undefined) return undefined;
  const doctor = remembering(() => {
    const { extraction, previous_models } = services.readiness().body;
    const examined = { settings, environment: process.env, cluster };
    return examineRunning(examined, { confined: extraction, previousModels: previous_models });
  });
  const snapshot = (): Snapshot => ({ ...deps.snapshot(), disk: diskOf(settings.DATA_DIR) });
  const server = await listenAt(['ADMIN_PORT'], {
    host: '127.0.0.1',
    port: settings.ADMIN_PORT,
    cors: new Cors([]),
    routes: operateRoutes({
      text: async () => `${statusText(snapshot())}\n${screenOf(await doctor())}`,
      snapshot: async () => snapshot(),
      doctor: async () => ({ findings: await doctor() }),
    }),
    onAnswered: () => undefined,
    onFault: services.onFault,
  });
  log.info({ event: 'operator_page', url: `http://127.0.0.1:${server.port}` });
  return server;
}

function diskOf(folder: string): Snapshot['disk'] {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}

/** An examination takes seconds: a page that is reloaded gets the last one. */
const REMEMBERED_MS = 60_000;

function remembering(examine: () => Promise<Finding[]>): () => Promise<Finding[]> {
  let found: Promise<Finding[]> | undefined;
  return () => {
    if (!found) {
      found = examine();
      setTimeout(() => {
        found = undefined;
      }, REMEMBERED_MS).unref();
    }
    return found;
  };
}
