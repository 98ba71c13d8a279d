import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { parentPort, workerData } from 'node:worker_threads';
import { openSharedEncoder } from '@farthing/engine/encode/shared-models';
import { native } from '@farthing/native';
import { isHouseKey } from '@farthing/protocol/house';
import pino from 'pino';
import { bearerToken } from '../http/access/workspace-access.ts';
import { OFF_THREAD_BYTES } from '../http/body/body.ts';
import { Cors } from '../http/exchange/cors.ts';
import { type RequestHead, readHead } from '../http/exchange/exchange.ts';
import { Connections, loadUws } from '../http/exchange/server.ts';
import { quickSearch } from '../http/routes/quick-search.ts';
import { workspaceSearchRoute } from '../http/routes/search.ts';
import { Metrics } from '../metrics/metrics.ts';
import { answeredLog, logOptions } from '../start/log.ts';
import { frontSearch } from './front-search.ts';
import { GrantedWorkspaces } from './granted.ts';
import type { FrontMetrics, FrontSettings, ToFront, ToOwner } from './messages.ts';
import { Relay, type Relayed } from './relay.ts';
import { SharedCounts } from './shared-counts.ts';
import { PendingUses } from './uses.ts';

/*
 * A front thread: an app of uWebSockets.js that gets its connections from the owner's. It answers searches of the workspaces that it was
 * granted, and hands everything else over.
 */

const settings = workerData as FrontSettings;
const { front } = settings;
const port = parentPort!;
const post = (message: ToOwner, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);
const counts = new SharedCounts(settings.memory);
const metrics = new Metrics({ ofProcess: false });
const uses = new PendingUses((report) => post({ kind: 'uses', uses: report }));
const log = pino(logOptions(settings.log.LOG_LEVEL), { write: (line: string) => uses.line(line) });
const logAnswered = answeredLog(log);
const granted = new GrantedWorkspaces(counts, front, (slot) => {
  uses.flush();
  post({ kind: 'left', slot });
});

process.on('uncaughtException', (error) => {
  uses.flush();
  post({ kind: 'failed', error });
});
process.on('unhandledRejection', (reason) =>
  uses.event({ event: 'unhandled_rejection', level: 'error', error: String(reason) }),
);

const { encoder, mayBeForeign } = await openSharedEncoder(settings.models, {
  atOnce: settings.queriesAtOnce,
  queryQueueMax: settings.queryQueueMax,
  ...(settings.queryWaitMsMax !== undefined && { queryWaitMsMax: settings.queryWaitMsMax }),
  log: (event) => uses.event(event),
  onTask: metrics.encoded,
});
const onFault = (error: unknown, requestId: string): void => {
  metrics.logged({ event: 'fault' });
  log.error({ event: 'fault', request_id: requestId, err: error });
};
/** Turns of the event loop in which what is under way arrives, and sockets are closed. */
const LAST_TURNS_MS = 20;
/** A body that has not come by then is the owner's to wait for. */
const BODY_WAIT_MS = 2000;
/** Hand over the requests whose bodies are waited for. */
const waiting = new Set<() => void>();
const SEARCH = /^\/agent\/v1\/workspaces\/([^/]+)\/search$/;
const services = frontSearch({ settings, counts, granted, encoder, metrics, uses, onFault });
const connections = new Connections({
  cors: new Cors(settings.corsOrigins),
  routes: [workspaceSearchRoute(services)],
  quick: quickSearch(services),
  unsentBytesMax: settings.unsentBytesMax,
  senderOf: ({ head }) => granted.of(SEARCH.exec(head.path)?.[1] ?? '')?.grant.owner ?? '',
  onAnswered: (event) => {
    counts.tallyRunning(front, -1);
    counts.tallyAnswered(front);
    metrics.answered(event);
    logAnswered(event);
  },
  onFault,
});
const relay = new Relay((message, moved) => {
  // What was counted before a request is known to the owner when it answers that.
  if (message.kind === 'begin') {
    uses.flush();
    counts.tallyHandedOver(front);
  }
  post(message, moved);
});

const uws = await loadUws();
const app = uws.App();
app.any('/*', serve);

function serve(response: HttpResponse, request: HttpRequest): void {
  const { head, fault } = readHead(request);
  const asks = fault ? undefined : askedOf(head);
  const handOver = (last: boolean, piece?: ArrayBuffer): Relayed =>
    relay.handOver(response, { head, fault, last, ...(piece && { piece }), asks });
  if (!hasBody(head)) {
    handOver(true);
    return;
  }
  let relayed: Relayed | undefined;
  let isOver = false;
  response.onAborted(() => {
    isOver = true;
    stopWaiting();
  });
  const begin = () => {
    if (!isOver) relayed ??= handOver(false);
  };
  // The body mostly comes in the same read. What may be answered here waits for it: many clients send it in another packet.
  const stopWaiting = asks === undefined ? soon(begin) : waitForBody(begin);
  response.onData((piece, last) => {
    if (relayed) return relayed.piece(piece, last);
    if (isOver) return;
    stopWaiting();
    if (last && asks !== undefined && answers(response, { head, asks, piece })) isOver = true;
    else relayed = handOver(last, piece);
  });
}

function soon(begin: () => void): () => void {
  const later = setImmediate(begin);
  return () => clearImmediate(later);
}

function waitForBody(begin: () => void): () => void {
  const stop = () => {
    clearTimeout(timer);
    waiting.delete(goOn);
  };
  const goOn = () => {
    stop();
    begin();
  };
  const timer = setTimeout(goOn, BODY_WAIT_MS);
  waiting.add(goOn);
  return stop;
}

function hasBody({ headers }: RequestHead): boolean {
  const length = headers.get('content-length');
  return headers.has('transfer-encoding') || (length !== undefined && length !== '0');
}

/** The workspace of a search that a front may be able to answer. */
function askedOf(head: RequestHead): string | undefined {
  if (head.method !== 'POST') return undefined;
  const { headers } = head;
  const length = Number(headers.get('content-length') ?? Number.NaN);
  if (!(length <= OFF_THREAD_BYTES)) return undefined;
  if (headers.has('x-payment') || headers.has('payment-signature') || headers.has('content-encoding'))
    return undefined;
  return SEARCH.exec(head.path)?.[1];
}

/** Answers a search of a granted workspace. @returns false where it is the owner's */
function answers(
  response: HttpResponse,
  { head, asks, piece }: { readonly head: RequestHead; readonly asks: string; readonly piece: ArrayBuffer },
): boolean {
  const token = bearerToken({ header: (name) => head.headers.get(name) });
  if (token === undefined || isHouseKey(token)) return false;
  const leave = granted.enter(asks, token);
  if (!leave) return false;
  if (!isOwn(asks, piece)) {
    leave();
    return false;
  }
  counts.tallyRunning(front, 1);
  connections.takeQuickly(response, { head, whole: piece, onWorked: leave });
  return true;
}

/** Whether a body asks for nothing but what this thread has. Faults, of bodies and of indexes, are the owner's to tell. */
function isOwn(workspace: string, body: ArrayBuffer): boolean {
  try {
    return asksOwn(workspace, JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return false;
  }
}

function asksOwn(workspace: string, sent: Record<string, unknown> | null): boolean {
  if (typeof sent !== 'object' || sent === null || 'image_b64' in sent) return false;
  const { grant, shard } = granted.of(workspace)!;
  if (!grant.translates || !shard.state().pictures) return true;
  const queries = Array.isArray(sent.queries) ? sent.queries : [sent];
  return !queries.some((asked: unknown) => {
    const words = typeof asked === 'string' ? asked : (asked as { query?: unknown } | null)?.query;
    return typeof words === 'string' && mayBeForeign(words);
  });
}

port.on('message', (message: ToFront) => {
  switch (message.kind) {
    case 'grant':
      granted.add(message.workspace, message.grant);
      return;
    case 'flush':
      uses.flush();
      post({ kind: 'flushed', call: message.call });
      return;
    case 'count':
      void metrics.registry.getMetricsAsJSON().then((all) => {
        const counted = all.filter(({ type }) => String(type) !== 'gauge');
        post({ kind: 'metrics', metrics: counted as unknown as FrontMetrics });
      });
      return;
    case 'drain':
      connections.closing = true;
      for (const goOn of [...waiting]) goOn();
      void connections.drained().then(() => {
        uses.flush();
        post({ kind: 'drained' });
      });
      return;
    case 'leave':
      // Connections that the acceptor has passed on by then come in the next turns.
      setTimeout(() => {
        uses.flush();
        native.waitsNoMore();
        app.close();
        setTimeout(() => process.exit(0), LAST_TURNS_MS);
      }, LAST_TURNS_MS);
      return;
    default:
      relay.hear(message);
  }
});
post({ kind: 'ready', descriptor: (app as unknown as { getDescriptor(): unknown }).getDescriptor() });
