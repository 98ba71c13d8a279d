import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { Cors } from '../../http/exchange/cors.ts';
import type { Server } from '../../http/exchange/server.ts';
import { listenAt } from '../../http/listen-at.ts';
import { operateRoutes } from '../../http/operate.ts';
import type { Services } from '../../http/services.ts';
import type { Traffic } from '../../metrics/traffic.ts';
import type { Settings } from '../../settings/settings.ts';
import { examineRunning, type Finding } from '../doctor/doctor.ts';

/** What the page shows of a running server. */
export interface AdminSubject {
  snapshot(): Record<string, unknown>;
  readonly services: Pick<Services, 'readiness' | 'onFault'>;
}

export interface AdminDeps {
  readonly settings: Settings;
  readonly parts: AdminSubject;
  readonly traffic: Traffic;
  readonly registry: Registry;
  readonly consoleFolder: string;
  readonly log: Logger;
}

/** The operator's page, where it is wanted: no network leads there. */
export async function openAdmin(admin: AdminDeps): Promise<Server | undefined> {
  const { settings, parts, traffic, registry, log } = admin;
  if (settings.ADMIN_PORT === undefined) return undefined;
  const doctor = remembering(() =>
    examineRunning(settings, process.env, parts.services.readiness().body.extraction),
  );
  const server = await listenAt(['ADMIN_PORT'], {
    host: '127.0.0.1',
    port: settings.ADMIN_PORT,
    cors: new Cors([]),
    routes: operateRoutes(resolve(admin.consoleFolder), {
      snapshot: async () => ({
        ...parts.snapshot(),
        traffic: traffic.report(),
        recall_probe: await recallProbe(registry),
      }),
      doctor: async () => ({ findings: await doctor() }),
    }),
    onAnswered: () => undefined,
    onFault: parts.services.onFault,
  });
  log.info({ event: 'operator_page', url: `http://127.0.0.1:${server.port}` });
  return server;
}

/** Looking takes seconds: a page that is loaded again and again is given what was found a moment ago. */
const REMEMBERED_MS = 60_000;

function remembering(look: () => Promise<Finding[]>): () => Promise<Finding[]> {
  let found: Promise<Finding[]> | undefined;
  return () => {
    if (!found) {
      found = look();
      setTimeout(() => {
        found = undefined;
      }, REMEMBERED_MS).unref();
    }
    return found;
  };
}

const PROBE = /^farthing_recall_probe/;

/** What the probe of the index has measured, as its metrics say it; empty without one. */
async function recallProbe(registry: Registry): Promise<object[]> {
  const metrics = (await registry.getMetricsAsJSON()).filter(({ name }) => PROBE.test(name));
  return metrics.flatMap(({ name, help, type, values }) =>
    values
      .filter((value) => !('metricName' in value) || !String(value.metricName).endsWith('_bucket'))
      .map((value) => ({
        name: 'metricName' in value ? value.metricName : name,
        help,
        type: String(type),
        labels: value.labels,
        value: value.value,
      })),
  );
}
