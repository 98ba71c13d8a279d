import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Finding, ProbeSample, Snapshot } from '@farthing/protocol/schema/operator';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Services } from '../../http/access/services.ts';
import { Cors } from '../../http/exchange/cors.ts';
import { listenAt } from '../../http/exchange/listen-at.ts';
import type { Server } from '../../http/exchange/server.ts';
import { operateRoutes } from '../../http/pages/operate.ts';
import type { Traffic } from '../../metrics/traffic.ts';
import type { Settings } from '../../settings/settings.ts';
import { examineRunning } from '../doctor/doctor.ts';
import { LastHour } from './last-hour.ts';
import type { RunningSnapshot } from './snapshot.ts';

export interface OperatorPageDeps {
  readonly settings: Settings;
  /** What the server does now. */
  readonly snapshot: () => RunningSnapshot;
  readonly services: Pick<Services, 'readiness' | 'onFault'>;
  readonly traffic: Traffic;
  readonly registry: Registry;
  readonly consoleFolder: string;
  readonly log: Logger;
}

/** Serves the operator's page on loopback; undefined where the settings don't want it. @throws ConfigError for a taken port */
export async function openOperatorPage(deps: OperatorPageDeps): Promise<Server | undefined> {
  const { settings, snapshot, services, traffic, registry, log } = deps;
  if (settings.ADMIN_PORT === undefined) return undefined;
  const doctor = remembering(() => {
    const { extraction, previous_models } = services.readiness().body;
    return examineRunning(settings, process.env, { confined: extraction, previousModels: previous_models });
  });
  const whole = async (): Promise<Snapshot> => ({
    ...snapshot(),
    traffic: traffic.report(),
    recall_probe: await recallProbe(registry),
    confidence: await confidences(registry),
    disk: diskOf(settings.DATA_DIR),
  });
  const hour = new LastHour(whole);
  const server = await listenAt(['ADMIN_PORT'], {
    host: '127.0.0.1',
    port: settings.ADMIN_PORT,
    cors: new Cors([]),
    routes: operateRoutes(resolve(deps.consoleFolder), {
      snapshot: whole,
      hour: async () => ({ points: await hour.read() }),
      doctor: async () => ({ findings: await doctor() }),
    }),
    onAnswered: () => undefined,
    onFault: services.onFault,
  });
  log.info({ event: 'operator_page', url: `http://127.0.0.1:${server.port}` });
  return {
    port: server.port,
    running: () => server.running(),
    close: async () => {
      hour.end();
      await server.close();
    },
  };
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

/** Of the searches so far, by tenths. */
async function confidences(registry: Registry): Promise<Snapshot['confidence']> {
  const metric = await registry.getSingleMetric('farthing_search_confidence')?.get();
  let below = 0;
  return (metric?.values ?? [])
    .filter(({ labels }) => Number.isFinite(Number(labels.le)))
    .map(({ labels, value }) => {
      const count = value - below;
      below = value;
      return [Number(labels.le), count] as const;
    });
}

const PROBE_METRIC = /^farthing_recall(_|$)/;

/** What the probe of the indexes has measured so far, as its metrics say it; empty before the first probe. */
async function recallProbe(registry: Registry): Promise<ProbeSample[]> {
  const metrics = (await registry.getMetricsAsJSON()).filter(({ name }) => PROBE_METRIC.test(name));
  return metrics.flatMap(({ name, help, type, values }) =>
    values
      .filter(({ value }) => Number.isFinite(value) && (String(type) === 'gauge' || value > 0))
      .map(({ labels, value }) => ({ name, help, type: String(type), labels, value })),
  );
}
