import { resolve } from 'node:path';
import type { Encoder } from '@farthing/engine/encode/encoder';
import { familyReports } from '@farthing/engine/search/families';
import { assetOn } from '@farthing/payment/asset';
import { RpcNode } from '@farthing/payment/facilitator/rpc-node';
import type { AnswerMcp } from '@farthing/protocol/schema/mcp';
import { Fronts } from '../fronts/fronts.ts';
import type { Forward } from '../http/access/forward.ts';
import { RequestSource } from '../http/access/request-source.ts';
import type { Services } from '../http/access/services.ts';
import { sharesOf } from '../http/body/shared-bytes.ts';
import { Cors } from '../http/exchange/cors.ts';
import { listenAt } from '../http/exchange/listen-at.ts';
import type { Server } from '../http/exchange/server.ts';
import { allRoutes } from '../http/routes/all-routes.ts';
import { quickSearch } from '../http/routes/quick-search.ts';
import { readGpuGauges } from '../metrics/gpu.ts';
import { serveMetrics } from '../metrics/server.ts';
import type { LoadClusterTools } from '../operator/cluster-tools.ts';
import { openOperatorPage } from '../operator/running/operator-page.ts';
import { openOperatorSocket } from '../operator/running/operator-socket.ts';
import { snapshotOf } from '../operator/running/snapshot.ts';
import { groupOf } from '../settings/settings.ts';
import type { AllBooks } from '../wiring/all-books.ts';
import type { Runtime } from '../wiring/process.ts';
import { answeredLog, writeLines } from './log.ts';

export interface ListenerDeps {
  readonly runtime: Runtime;
  readonly books: AllBooks;
  /** For requests that belong to no particular store, such as those without a payment. */
  readonly services: Services;
  readonly forward: Forward;
  readonly mcp: AnswerMcp;
  readonly cluster: LoadClusterTools;
}

interface Closable {
  close(): Promise<void>;
}

/** Where `make console` builds the console. */
const CONSOLE_FOLDER = resolve(import.meta.dirname, '../../../.build/console');

/** Starts the front threads; undefined where one thread answers all. */
export async function openFronts({ runtime, books }: ListenerDeps): Promise<Fronts | undefined> {
  const { fronts, tenants, metrics, log, event } = runtime;
  if (!fronts) return undefined;
  const { services, clock } = books.placement.front;
  const { workspaces } = services;
  const write = (lines: string) => writeLines(log, lines);
  return Fronts.start({ ...fronts, tenants, workspaces, clock, metrics, write, log: event });
}

/** Opens the public API. @throws ConfigError when its address is taken or not this machine's */
export function openInterface({ runtime, services, forward, mcp }: ListenerDeps): Promise<Server> {
  const { settings, encoder, metrics, log } = runtime;
  const { limits, onFault } = services;
  const source = new RequestSource(services, forward);
  const logAnswered = answeredLog(log);
  return listenAt(['HOST', 'PORT'], {
    host: settings.HOST,
    port: settings.PORT,
    cors: new Cors(settings.CORS_ORIGINS),
    bodies: sharesOf(limits.bodiesBytesMax),
    bodyBytesPerSecondMin: limits.bodyBytesPerSecondMin,
    senderOf: (exchange) => source.of(exchange),
    ...(forward.alone && { quick: quickSearch(forward.alone) }),
    routes: allRoutes(services, {
      notes: () => unavailableNotes(encoder),
      consoleFolder: settings.CONSOLE === '0' ? undefined : CONSOLE_FOLDER,
      mcp,
      forward,
    }),
    onAnswered: (event) => {
      metrics.answered(event);
      logAnswered(event);
    },
    onFault,
  });
}

/** Opens the operator's page, if `ADMIN_PORT` is set. @throws ConfigError when its port is taken */
export function openPage({ runtime, books, services, cluster }: ListenerDeps): Promise<Server | undefined> {
  const { settings, log, encoder, extractor, tenants } = runtime;
  return openOperatorPage({
    settings,
    snapshot: () => snapshotOf({ encoder, extractor, tenants, books }),
    services,
    cluster,
    log,
  });
}

/** Opens the operator's socket. A failure is logged: only the operator's commands need it. */
export function openSocket({ runtime, books, services }: ListenerDeps): Promise<Closable | undefined> {
  const { data, signer, log, settings } = runtime;
  const { FACILITATOR, NETWORK, RPC_URL } = settings;
  const isWatched = FACILITATOR.length > 0 && RPC_URL.length > 0;
  const controlled = {
    workspaces: books,
    house: services.house,
    backup: books.backup,
    ledger: () => books.ledger,
    owing: () => books.owing,
    refundChain: isWatched
      ? { asset: assetOn(NETWORK), nodes: RPC_URL.map((url) => new RpcNode(url)) }
      : undefined,
    rotateKey: () => signer.rotate(),
  };
  return openOperatorSocket(data, controlled).catch((error: unknown) => {
    log.warn({ event: 'operator_socket_unavailable', error: String(error) });
    return undefined;
  });
}

/** Opens the address for Prometheus, unless `METRICS_PORT` is off. A failure is logged: the service runs without it. */
export async function openMetrics(
  { settings, metrics, log }: Runtime,
  fronts?: Fronts,
): Promise<(Closable & { readonly url: string }) | undefined> {
  const { port, ...address } = groupOf(settings, 'metrics');
  if (port === 'off') return undefined;
  try {
    await readGpuGauges(metrics.registry);
    const { registry } = metrics;
    const { contentType } = registry;
    const all = fronts ? { contentType, metrics: () => fronts.metrics(registry) } : registry;
    return await serveMetrics(all, { ...address, port });
  } catch (error) {
    log.error({ event: 'metrics_unavailable', error: String(error) });
    return undefined;
  }
}

/** Added to the OpenAPI description: families that cannot be searched, and why. */
function unavailableNotes(encoder: Encoder): string {
  const missing = familyReports(encoder).filter(({ available }) => !available);
  return missing
    .map(({ family, reason }) => ` Not available on this server: ${family} (${reason}).`)
    .join('');
}
