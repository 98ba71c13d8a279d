import { FarthingError } from '@farthing/protocol/error';
import { parseId, payerTenantId } from '@farthing/protocol/id';
import type { Forward } from '@farthing/server/http/access/forward';
import { RequestSource } from '@farthing/server/http/access/request-source';
import type { Services } from '@farthing/server/http/access/services';
import { bearerToken } from '@farthing/server/http/access/workspace-access';
import type { Exchange } from '@farthing/server/http/exchange/exchange';
import type { Operation, Route } from '@farthing/server/http/exchange/route';
import { callerOf } from '../peers/peer-caller.ts';
import { type Destination, Forwarding, type ForwardingOptions } from './forwarding.ts';
import { type PeerHandlers, peerRoutes } from './peer-routes.ts';
import { safeAnswers } from './safe-answers.ts';
import type { ServicesBySlot, SlotServices } from './slot-places.ts';

/** Options where servers share slots. */
export interface SharingOptions extends Omit<ForwardingOptions, 'slots' | 'senderOf'> {
  /** Further calls that other servers may make. */
  readonly handlers?: PeerHandlers;
}

type Table = (services: Services) => readonly Route[];

/** Only these routes read the store; the others report the server's state. */
const AGENT_PATHS = '/agent/';
const RETRY_AFTER_S = 2;

/** Routes each request to its slot, at this server or at the owner. */
export class SlotForward implements Forward {
  /** Undefined where this server has all slots. */
  readonly forwarding: Forwarding | undefined;
  readonly peerRoutes: readonly Route[];
  readonly #slots: ServicesBySlot;
  readonly #sharing: SharingOptions | undefined;

  constructor(slots: ServicesBySlot, sharing?: SharingOptions) {
    this.#slots = slots;
    this.#sharing = sharing;
    this.peerRoutes = [];
    if (!sharing) return;
    const source = new RequestSource(slots.front, this);
    this.forwarding = new Forwarding({ ...sharing, slots, senderOf: (exchange) => source.of(exchange) });
    const handlers = { ...sharing.handlers, ...this.forwarding.ofPeers.handlers };
    this.peerRoutes = peerRoutes(handlers, sharing.signatures, slots.front.onFault);
  }

  routes(table: Table): readonly Route[] {
    const { front, isOne } = this.#slots;
    const tables = new WeakMap<SlotServices, readonly Route[]>();
    const routesOf = (services: SlotServices) => {
      const known = tables.get(services) ?? safeRoutes(table(services), services);
      tables.set(services, known);
      return known;
    };
    if (isOne) return routesOf(front);
    return routesOf(front).map((route, index) => ({
      ...route,
      handle: (exchange, params) => {
        const here = (services: SlotServices) => routesOf(services)[index]!.handle(exchange, params);
        const key = keyOf(route, exchange, params);
        if (key === undefined) return here(front);
        if (this.forwarding?.ofPeers.passedOn(exchange))
          return this.forwarding.ofPeers.answer(exchange, key, here);
        if (this.forwarding) return this.forwarding.answer(exchange, destinationOf(route, key), here);
        const place = this.#slots.of(key);
        if ('services' in place) return here(place.services);
        throw new FarthingError('interrupted', 'Send the same request again.', {
          retryAfterS: RETRY_AFTER_S,
        });
      },
    }));
  }

  isPeerCall(exchange: Pick<Exchange, 'head' | 'header'>): boolean {
    return this.#sharing !== undefined && callerOf(exchange, this.#sharing.signatures) !== undefined;
  }

  find(id: string): Services | undefined {
    const place = this.#slots.of(id);
    return 'services' in place ? place.services : undefined;
  }

  isAcceptedElsewhere(workspace: string, token: string): boolean {
    return this.forwarding?.known.has(workspace, token) ?? false;
  }

  endStreams(): void {
    this.forwarding?.endStreams();
  }

  async close(): Promise<void> {
    await this.forwarding?.close();
  }
}

function safeRoutes(routes: readonly Route[], services: SlotServices): readonly Route[] {
  if (!services.stable) return routes;
  return routes.map((route) =>
    route.path.startsWith(AGENT_PATHS) ? { ...route, handle: safeAnswers(route.handle, services) } : route,
  );
}

/**
 * The id that leads to the slot: of the payer, the workspace or the job. Undefined for what any slot refuses: without a payment, without
 * a token, of an id that is none.
 */
function keyOf(
  { operation }: Route,
  exchange: Exchange,
  { id, job_id }: Readonly<Record<string, string>>,
): string | undefined {
  if (operation?.security === 'payment') return payerOf(exchange);
  if (id === undefined) return parseId('job', job_id ?? '');
  if (operation?.security === 'token' && bearerToken(exchange) === undefined) return undefined;
  return parseId('workspace', id);
}

/** What is found by token is a read: a search is counted once, by the server that answers. */
const READ_BY_POST: readonly Operation['operationId'][] = ['searchWorkspace', 'grepWorkspace'];

function destinationOf({ method, operation }: Route, key: string): Destination {
  const isPaid = operation?.security === 'payment';
  const isRead = method === 'GET' || READ_BY_POST.includes(operation?.operationId ?? '');
  return { key, isPaid, isRepeatable: !isPaid && isRead };
}

/** Undefined, too, for a payment that any slot refuses, because it cannot be read. */
function payerOf(exchange: Exchange): string | undefined {
  try {
    const parsed = exchange.payment.parsed();
    return parsed && payerTenantId(parsed.payment.payer);
  } catch {
    return undefined;
  }
}
