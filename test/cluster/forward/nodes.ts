import { request } from 'node:http';
import type { Test } from 'tap';
import type { Forwarding, ForwardingLimits } from '../../../src/cluster/forward/forwarding.ts';
import { RequestCount } from '../../../src/cluster/forward/request-count.ts';
import { SlotForward } from '../../../src/cluster/forward/slot-forward.ts';
import type { ServicesBySlot, SlotPlace, SlotServices } from '../../../src/cluster/forward/slot-places.ts';
import { HttpPeerCalls } from '../../../src/cluster/peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../../../src/cluster/peers/peer-signature.ts';
import type { RequestPayment } from '../../../src/payment/wire/request-payment.ts';
import type { Services } from '../../../src/server/http/access/services.ts';
import { type Shares, sharesOf } from '../../../src/server/http/body/shared-bytes.ts';
import { Cors } from '../../../src/server/http/exchange/cors.ts';
import type { Route } from '../../../src/server/http/exchange/route.ts';
import { type AnsweredEvent, listen, type Server } from '../../../src/server/http/exchange/server.ts';
import type { ForwardedEvent } from '../../../src/server/metrics/metrics.ts';

export type NodeName = 'a' | 'b' | 'c';
/** Where the one slot is, as one server sees it. */
export type Where = NodeName | { readonly moving: Promise<void> };

/** Services that know their server, one payer and one token. */
export interface NodeServices {
  readonly name: NodeName | 'front';
}

export const WORKSPACE = `ws_${'a'.repeat(32)}`;
export const JOB = `job_${'b'.repeat(32)}`;
export const TOKEN = 'good';
export const PAYER = `0x${'c'.repeat(40)}`;

/** A payment that can be read. @param signature nobody looks at it */
function paymentOf(signature: string): string {
  const authorization = {
    from: PAYER,
    to: PAYER,
    value: '1',
    validAfter: '0',
    validBefore: '1',
    nonce: `0x${'0'.repeat(64)}`,
  };
  const payment = { x402Version: 1, scheme: 'exact', network: 'base', payload: { signature, authorization } };
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}

export const PAYMENT = paymentOf('0x00');
/** A payment that its payer did not sign. */
const FORGED_SIGNATURE = '0xff';
export const FORGED = paymentOf(FORGED_SIGNATURE);

export interface TestNode {
  readonly name: NodeName;
  readonly url: string;
  readonly port: number;
  readonly forwarding: Forwarding;
  readonly signatures: PeerSignatures;
  readonly answered: AnsweredEvent[];
  readonly forwarded: ForwardedEvent[];
  readonly faults: unknown[];
  /** Requests that the slot is answering here. */
  readonly running: RequestCount;
  stop(): Promise<void>;
}

export interface Nodes {
  readonly a: TestNode;
  readonly b: TestNode;
  readonly c: TestNode;
  /** Where the slot is: as all see it, or one of them. */
  place(where: Where, seenBy?: readonly NodeName[]): void;
  /** How often a server has asked where the slot is. */
  looks(by: NodeName): number;
  /** Where a server is reached by the others: a relay, say. */
  reach(name: NodeName, url: string): void;
}

/** Three servers of a cluster with one slot, which is at b. @param table routes of the slot at a server */
export async function startNodes(
  t: Test,
  table: (services: Services & NodeServices) => readonly Route[],
  limits: Partial<ForwardingLimits> = {},
  { bodies = sharesOf(64 * 2 ** 20) }: { readonly bodies?: Shares } = {},
): Promise<Nodes> {
  const seen: Record<NodeName, Where> = { a: 'b', b: 'b', c: 'b' };
  const looks: Record<NodeName, number> = { a: 0, b: 0, c: 0 };
  const urls: Record<NodeName, string> = { a: '', b: '', c: '' };
  const open = async (name: NodeName): Promise<TestNode> => {
    const signatures = new PeerSignatures(peerKeysOf('d'.repeat(64)), name);
    const calls = new HttpPeerCalls(signatures);
    const faults: unknown[] = [];
    const slots: ServicesBySlot = {
      front: { ...servicesOf('front'), onFault: (error) => void faults.push(error) },
      isOne: false,
      of: (): SlotPlace => {
        looks[name] += 1;
        const where = seen[name];
        if (typeof where === 'object') return where;
        if (where === name) return { services: own };
        return { peer: { id: where, url: urls[where] }, moved: new Promise(() => undefined) };
      },
    };
    const running = new RequestCount();
    const own = servicesOf(name, running);
    const forwarded: ForwardedEvent[] = [];
    const answered: AnsweredEvent[] = [];
    const observe = (event: ForwardedEvent) => void forwarded.push(event);
    const forward = new SlotForward(slots, { calls, signatures, observe, limits });
    const server: Server = await listen({
      host: '127.0.0.1',
      port: 0,
      cors: new Cors(['*']),
      bodies,
      routes: [
        ...forward.routes((services) => table(services as Services & NodeServices)),
        ...forward.peerRoutes,
      ],
      onAnswered: (event) => answered.push(event),
      onFault: (error) => faults.push(error),
    });
    urls[name] = `http://127.0.0.1:${server.port}`;
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= (async () => {
        await server.close();
        await forward.close();
        calls.close();
      })();
      return stopped;
    };
    t.teardown(stop);
    return {
      name,
      url: urls[name],
      port: server.port,
      forwarding: forward.forwarding!,
      signatures,
      answered,
      forwarded,
      faults,
      running,
      stop,
    };
  };
  const [a, b, c] = [await open('a'), await open('b'), await open('c')];
  return {
    a,
    b,
    c,
    place: (where, seenBy = ['a', 'b', 'c']) => {
      for (const name of seenBy) seen[name] = where;
    },
    looks: (by) => looks[by],
    reach: (name, url) => {
      urls[name] = url;
    },
  };
}

function servicesOf(name: NodeServices['name'], running = new RequestCount()): SlotServices {
  return {
    name,
    running,
    stable: async () => undefined,
    workspaces: { tokenOpens: (id: string, token: string) => id === WORKSPACE && token === TOKEN },
    gate: {
      knownPayer: () => undefined,
      isGenuine: (sent: RequestPayment) => sent.parsed()?.payment.signature !== FORGED_SIGNATURE,
      paidElsewhere: () => undefined,
    },
  } as unknown as SlotServices;
}

/** A route of the workspace. */
export function workspaceRoute(
  method: Route['method'],
  rest: string,
  handle: Route['handle'],
  operationId = 'tried',
): Route {
  return {
    method,
    path: `/agent/v1/workspaces/{id}${rest}`,
    operation: {
      operationId,
      summary: '',
      tag: 'Workspaces',
      security: 'token',
      success: { status: 200, description: '' },
      errors: [],
    },
    handle,
  };
}

/** A paid route. */
export function paidRoute(method: Route['method'], path: string, handle: Route['handle']): Route {
  const { operation, ...rest } = workspaceRoute(method, '', handle);
  return { ...rest, path, operation: { ...operation!, security: 'payment' } };
}

export const BEARER = { authorization: `Bearer ${TOKEN}` };
export const inWorkspace = (rest: string) => `/agent/v1/workspaces/${WORKSPACE}${rest}`;

/** Sends a request and gives its answer's head and whole body as they came, decoded by nobody. */
export function raw(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: Buffer | string } = {},
): Promise<{ status: number; reason: string; headers: string[]; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...BEARER, ...headers } }, async (response) => {
      const pieces: Buffer[] = [];
      try {
        for await (const piece of response) pieces.push(piece);
      } catch (error) {
        reject(error);
        return;
      }
      // The rest of an upload is not waited for.
      sent.destroy();
      const { statusCode = 0, statusMessage = '', rawHeaders } = response;
      resolve({
        status: statusCode,
        reason: statusMessage,
        headers: rawHeaders,
        body: Buffer.concat(pieces),
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
