import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { TurnLimit } from '@farthing/queues/turn-limit';
import { Receiving } from '../body/receiving.ts';
import { type Shares, sharesOf } from '../body/shared-bytes.ts';
import type { Cors } from './cors.ts';
import {
  type BegunRequest,
  Exchange,
  type ExchangeOptions,
  hasCredentials,
  type RequestHead,
  readHead,
} from './exchange.ts';
import { FairAcceptor, type Place } from './fair-acceptor.ts';
import { DelayedRefusals, LoopLoad } from './loop-load.ts';
import { isFault, problem } from './problem.ts';
import { QuickExchange, type QuickHost, type QuickWay } from './quick.ts';
import { type Outcome, outcomeOf, type Reply } from './reply.ts';
import type { Route } from './route.ts';
import { Router } from './router.ts';
import type { TraceContext } from './trace.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** Room for payments of 12 kB. uWebSockets.js reads this once, when it is loaded. */
const HEADER_BYTES_MAX = 16 * 1024;
/**
 * Linux keeps twice this for a connection. uWebSockets.js keeps reading a connection, even a paused one, while each read fills
 * its buffer of 512 KiB (less 24 bytes): a fast upload would block all other connections and fill the memory.
 */
const RECEIVE_BUFFER_BYTES = 240 * 1024;
const BODIES_BYTES_MAX = 8 * 2 ** 20;
/** All answers that clients have not read yet: room for some thousand searches. Unpaid ones get a third of it. */
export const UNSENT_BYTES_MAX = 64 * 2 ** 20;
/**
 * Unsent bytes that the kernel buffers for a connection (`TCP_NOTSENT_LOWAT`). Its default is up to 4 MiB for a connection that was
 * read fast before.
 */
const UNSENT_IN_KERNEL_BYTES_MAX = 16 * 1024;
/** Pieces of stored files, of 64 KiB, that are written in one turn of the event loop: the kernel copies half a MiB in half a millisecond. */
const PIECES_PER_TURN = 8;
/** Interval of the check for slow bodies. */
const RATE_SECONDS = 10;

export interface ServerOptions extends ConnectionsOptions {
  readonly host: string;
  readonly port: number;
}

export interface ConnectionsOptions {
  readonly cors: Cors;
  readonly routes: readonly Route[];
  /** Budget of the bodies that wait in memory. */
  readonly bodies?: Shares;
  /** All answers that clients have not read yet. Unpaid ones get a third of it. */
  readonly unsentBytesMax?: number;
  /** Slower bodies get 408; 0: no limit. */
  readonly bodyBytesPerSecondMin?: number;
  /** A short way of the commonest requests. Absent: there is none. */
  readonly quick?: QuickWay;
  /** Sender for the fair queue of waiting requests. Absent: one for all. */
  readonly senderOf?: (exchange: Exchange) => string;
  /** Called once per request after its answer. */
  readonly onAnswered: (event: AnsweredEvent) => void;
  readonly onFault: (error: unknown, requestId: string) => void;
}

export interface AnsweredEvent extends Outcome {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly trace?: TraceContext;
  /** Name of the house's key that it came with. */
  readonly key?: string;
  readonly milliseconds: number;
}

/** A request as it came. */
export interface Incoming {
  readonly head: RequestHead;
  /** Why it could be read in two ways. */
  readonly fault?: Error | undefined;
  /** The whole body, where it has come; else the response has it. */
  readonly whole?: ArrayBuffer;
  readonly feed?: ExchangeOptions['feed'];
  readonly begun?: BegunRequest;
  /** When it may begin, where that is decided. */
  readonly placed?: Place;
  /** Called once its work has ended, before its answer is written. */
  readonly onWorked?: () => void;
}

export interface Server {
  readonly port: number;
  /** Requests that have no answer yet. */
  running(): number;
  /** Serves requests that come otherwise than by its own port: those that fronts hand over. */
  readonly connections: Connections;
  /** The app of another thread gets the connections that come, in turn with others. @returns takes it out again */
  share(descriptor: unknown): () => void;
  /** Stops listening; resolves when every running request has its answer. @param ended called then: from its end on none begins elsewhere */
  close(ended?: () => Promise<void> | undefined): Promise<void>;
}

/** uWebSockets.js, which reads this setting as it is loaded. */
export function loadUws(): Promise<typeof import('uWebSockets.js')> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEADER_BYTES_MAX);
  return import('uWebSockets.js');
}

/** Functions of an app that the package's types omit. */
interface SharingApp {
  addChildAppDescriptor(descriptor: unknown): void;
  removeChildAppDescriptor(descriptor: unknown): void;
}

/** Listens on host and port (0: any free one). Every request gets exactly one answer; a handler's error becomes a problem document. @throws ListenError */
export async function listen(options: ServerOptions): Promise<Server> {
  const uws = await loadUws();
  native.answerBeforeFollowing(uwsLibrary());
  const app = uws.App();
  const connections = new Connections(options);
  app.any('/*', (response, request) => connections.serve(response, request));
  const socket = await listenOn(app, options, uws.us_socket_local_port);
  const { bodyBytesPerSecondMin = 0 } = options;
  const rates = setInterval(
    () => void connections.giveUpSlowBodies(RATE_SECONDS * bodyBytesPerSecondMin),
    1000 * RATE_SECONDS,
  ).unref();
  native.limitSocketBuffers(socket.port, RECEIVE_BUFFER_BYTES, UNSENT_IN_KERNEL_BYTES_MAX);
  return {
    port: socket.port,
    running: () => connections.running,
    connections,
    share: (descriptor) => {
      const sharing = app as unknown as SharingApp;
      sharing.addChildAppDescriptor(descriptor);
      return () => sharing.removeChildAppDescriptor(descriptor);
    },
    close: async (ended) => {
      clearInterval(rates);
      connections.closing = true;
      uws.us_listen_socket_close(socket.handle);
      await ended?.();
      await connections.drained();
      app.close();
    },
  };
}

/** File of the loaded binary of uWebSockets.js; empty where none is. */
function uwsLibrary(): string {
  return Object.keys(createRequire(import.meta.url).cache).find((file) => /uws[^/]*\.node$/.test(file)) ?? '';
}

/** The address cannot be listened on. */
export class ListenError extends Error {
  constructor(host: string, port: number) {
    super(
      `cannot listen on ${host}:${port}: another process has the port, or the address is not this machine's`,
    );
  }
}

/** The overload with options and a host, which the package's types omit. */
type ListenWithOptions = (
  host: string,
  port: number,
  options: number,
  done: (handle: us_listen_socket | false) => void,
) => void;
/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it two servers can share a port unnoticed. */
const EXCLUSIVE_PORT = 1;

function listenOn(
  app: TemplatedApp,
  { host, port }: ServerOptions,
  portOf: (handle: us_listen_socket) => number,
): Promise<{ handle: us_listen_socket; port: number }> {
  return new Promise((resolve, reject) => {
    const listenExclusively = app.listen.bind(app) as unknown as ListenWithOptions;
    listenExclusively(host, port, EXCLUSIVE_PORT, (handle) => {
      if (handle) resolve({ handle, port: portOf(handle) });
      else reject(new ListenError(host, port));
    });
  });
}

/** Remote address as bytes, only for comparison. */
function addressOf(response: HttpResponse): string {
  return Buffer.from(response.getRemoteAddress()).toString('latin1');
}

/** The requests of all connections of a thread. */
export class Connections {
  running = 0;
  /** From now on a connection ends with its next answer. */
  closing = false;
  readonly #options: ConnectionsOptions;
  readonly #router: Router<Route>;
  readonly #acceptor = new FairAcceptor();
  readonly #refusals = new DelayedRefusals(new LoopLoad());
  readonly #pieces = new TurnLimit(PIECES_PER_TURN);
  readonly #unsent: UnsentBytes;
  readonly #bodies: Shares;
  readonly #receiving = new Receiving();
  readonly #quick = new Set<QuickExchange>();
  readonly #host: QuickHost;
  #onDrained: (() => void) | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
    this.#bodies = options.bodies ?? sharesOf(BODIES_BYTES_MAX);
    this.#unsent = new UnsentBytes(sharesOf(options.unsentBytesMax ?? UNSENT_BYTES_MAX));
    this.#host = this.#hostOfQuick();
  }

  serve(response: HttpResponse, request: HttpRequest): void {
    this.takeQuickly(response, readHead(request));
  }

  /** As `take`, in the short way where the request can be answered so. */
  takeQuickly(response: HttpResponse, incoming: Incoming): void {
    const { head, fault } = incoming;
    const ask = this.closing || fault ? undefined : this.#options.quick?.asks(head);
    const placed = ask && this.#acceptor.place();
    // The last of a turn may have to be sent before others of its read.
    if (!ask || !placed || placed === 'last') {
      this.take(response, { ...incoming, ...(placed && { placed }) });
      return;
    }
    const turn = placed === 'later' ? this.#acceptor.enter(ask.owner, true) : undefined;
    this.running += 1;
    this.#quick.add(new QuickExchange(this.#host, response, incoming, { ask, turn }));
  }

  #hostOfQuick(): QuickHost {
    const { cors, onAnswered } = this.#options;
    const isClosing = () => this.closing;
    const out = (quick: QuickExchange) => {
      this.#quick.delete(quick);
      this.#ended();
    };
    return {
      cors,
      unsent: this.#unsent,
      get isClosing() {
        return isClosing();
      },
      takeOver: (quick, response, incoming) => {
        this.take(response, incoming);
        out(quick);
      },
      write: async (response, { head, whole, begun }, reply) => {
        const exchange = new Exchange(response, head, cors.headers(head.headers.get('origin')), {
          isLast: isClosing,
          endsRead: () => false,
          flushes: () => false,
          unsent: this.#unsent,
          whole,
          begun,
          bodies: { shares: this.#bodies },
        });
        await exchange.answer(reply);
        return exchange.status;
      },
      mayAnswer: (status) => this.#refusals.wait(status),
      ended: (quick, event, startedAt) => {
        onAnswered({ ...event, milliseconds: performance.now() - startedAt });
        out(quick);
      },
    };
  }

  /** @param isAlone nothing else came in the same read of its connection: a front hands over one request at a time */
  take(
    response: HttpResponse,
    { head, fault, whole, feed, begun, placed, onWorked }: Incoming,
    isAlone = false,
  ): void {
    const turn = this.#acceptor.number;
    const isInRead = () => this.#acceptor.number === turn;
    const endsRead = (): boolean => isLastOfRead(false);
    // Paid answers are stored and compared, so they are never padded.
    const flushes = (): boolean => isLastOfRead(true) && isOfOneAddress && !exchange.payment.isPresent;
    const isLastOfRead = (withCredentials: boolean) =>
      !isAlone && place === 'last' && isInRead() && hasCredentials(exchange) === withCredentials;
    const exchange: Exchange = new Exchange(
      response,
      head,
      this.#options.cors.headers(head.headers.get('origin')),
      {
        // After an ambiguous head the start of the next request is unknown (RFC 9112, 6.3).
        isLast: () => this.closing || fault !== undefined || endsRead(),
        endsRead,
        flushes,
        unsent: this.#unsent,
        whole,
        feed,
        begun,
        isWatched: !isAlone,
        bodies: { shares: this.#bodies, onBytes: (body, bytes) => this.#receiving.took(body, bytes) },
      },
    );
    const place = placed ?? this.#acceptor.place(hasCredentials(exchange) ? addressOf(response) : undefined);
    const { isOfOneAddress } = this.#acceptor;
    if (head.method === 'OPTIONS' && !fault) {
      void this.#preflight(exchange, place);
      return;
    }
    this.running += 1;
    this.#receiving.add(exchange.body);
    void this.#answer(exchange, { fault, onWorked }, place).finally(() => {
      this.#receiving.delete(exchange.body);
      this.#ended();
    });
  }

  #ended(): void {
    this.running -= 1;
    if (this.running === 0) this.#onDrained?.();
  }

  giveUpSlowBodies(bytesMin: number): Promise<void> {
    for (const quick of this.#quick) quick.waitNoLonger();
    const fault = () =>
      new FarthingError('body_too_slow', `Send at least ${bytesMin} bytes in ${RATE_SECONDS} seconds.`);
    return this.#receiving.giveUp((body) => body.isTooSlow(bytesMin), fault);
  }

  async drained(): Promise<void> {
    if (this.running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
  }

  #turn(exchange: Exchange): Promise<void> {
    return this.#acceptor.enter(this.#options.senderOf?.(exchange) ?? '', hasCredentials(exchange));
  }

  async #preflight(exchange: Exchange, place: Place): Promise<void> {
    if (place === 'later') await this.#turn(exchange).catch(() => undefined);
    await this.#readOver(exchange);
    exchange.send(204, this.#options.cors.preflight(exchange.header('origin')), '');
  }

  /**
   * For a request with a chunked body, whose answer ends the connection: resolves once the rest of its read has been handled.
   * uWebSockets.js drops a connection if a request follows one without an answer.
   */
  async #readOver(exchange: Exchange): Promise<void> {
    if (exchange.head.headers.has('transfer-encoding')) await nextTurn();
  }

  async #answer(
    exchange: Exchange,
    { fault, onWorked }: Pick<Incoming, 'fault' | 'onWorked'>,
    place: Place,
  ): Promise<void> {
    let routePath = 'unmatched';
    let outcome: Outcome = {};
    try {
      if (place === 'later') await this.#turn(exchange);
      if (fault) {
        // Later requests of the same read must not be served: without an answer here, uWebSockets.js drops them.
        await nextTurn();
        throw fault;
      }
      const { route, params } = this.#router.find(exchange.head.method, exchange.head.path);
      routePath = route.path;
      const reply = await route.handle(exchange, params);
      onWorked?.();
      await this.#refusals.wait(reply.status);
      await this.#readOver(exchange);
      outcome = outcomeOf(reply);
      await this.#write(exchange, reply);
    } catch (error) {
      onWorked?.();
      if (isFault(error, exchange.signal)) this.#options.onFault(error, exchange.requestId);
      const answer = problem(error, exchange.requestId);
      await this.#refusals.wait(answer.status);
      await this.#readOver(exchange);
      outcome = exchange.signal.aborted ? { code: 'client_left' } : outcomeOf(answer);
      await exchange.answer(answer);
    }
    this.#options.onAnswered({
      requestId: exchange.requestId,
      method: exchange.head.method,
      route: routePath,
      status: exchange.status,
      ...outcome,
      ...(exchange.trace && { trace: exchange.trace }),
      ...(exchange.key !== undefined && { key: exchange.key }),
      milliseconds: performance.now() - exchange.startedAt,
    });
  }

  async #write(exchange: Exchange, reply: Reply): Promise<void> {
    if ('raw' in reply) {
      const whole = await exchange.send(reply.status, reply.headers, reply.raw);
      reply.delivered?.(whole);
    } else if ('relayed' in reply) {
      let whole = false;
      try {
        whole = await exchange.relay(reply, (owner) => this.#pieces.enter(owner));
      } finally {
        reply.delivered(whole);
      }
    } else if ('content' in reply) await exchange.sendContent(reply, (owner) => this.#pieces.enter(owner));
    else if ('events' in reply) await exchange.stream(reply);
    else {
      const whole = await exchange.answer(reply);
      reply.delivered?.(whole);
    }
  }
}
