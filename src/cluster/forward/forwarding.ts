import type { IncomingMessage } from 'node:http';
import { FarthingError } from '../../domain/error.ts';
import { isPayer, payerTenantId, type TenantId, walletOf } from '../../domain/id.ts';
import { Senders } from '../../http/access/sender.ts';
import type { ServicesBySlot } from '../../http/access/services.ts';
import { bearerToken } from '../../http/access/workspace-access.ts';
import type { Exchange } from '../../http/exchange/exchange.ts';
import type { RelayedReply, Reply } from '../../http/exchange/reply.ts';
import type { Peer } from '../peers/peer.ts';
import { PeerAwayError, type PeerCalls, PeerLostError } from '../peers/peer-calls.ts';
import { PeerConnections } from '../peers/peer-connections.ts';
import type { PeerSignatures } from '../peers/peer-signature.ts';
import { DeliveryReports } from './delivery-reports.ts';
import { KnownElsewhere } from './known-elsewhere.ts';
import { OwnerRequest, type PassedBody } from './owner-request.ts';
import { ACCEPTED_HEADER, DELIVERY_HEADER } from './passed-headers.ts';
import { type AnswerHere, OWNS_CALL, PeerRequests } from './peer-requests.ts';
import { Places } from './places.ts';
import { relayedAnswer } from './relayed-answer.ts';
import { crowded, type SlotWait, type SlotWaitLimits, SlotWaits, slotMoves } from './slot-waits.ts';

/** A request of a client whose slot was not at this server. */
export interface ForwardedEvent {
  /**
   * `answered` by the owner or, after a wait, here; `lost` with the owner; `refused` because its slot did not come to rest, or too
   * many wait, or its body is not right; `left`: the client did.
   */
  readonly outcome: 'answered' | 'lost' | 'refused' | 'left';
  /** Until the head of the answer. */
  readonly milliseconds: number;
}

export interface ForwardingOptions {
  readonly slots: ServicesBySlot;
  readonly calls: PeerCalls;
  readonly signatures: PeerSignatures;
  /** Of the other servers, where it is not one that Node trusts; PEM. */
  readonly ca?: string | undefined;
  readonly observe?: (event: ForwardedEvent) => void;
  readonly limits?: Partial<ForwardingLimits>;
}

export interface ForwardingLimits extends SlotWaitLimits {
  /** Requests at other servers, and of these those of one sender once there is a quarter of all. */
  readonly underWayMax: number;
  readonly ofSenderUnderWayMax: number;
  /** An owner that lost its slot and is silent for so long stands still, or is cut off. */
  readonly silentMsMax: number;
  /** Between two looks at those. */
  readonly lookMs: number;
  /** A server that passed an answer on reports its delivery by then. */
  readonly reportMsMax: number;
}

const LIMITS: ForwardingLimits = {
  waitMsMax: 10_000,
  waitingMax: 512,
  ofSenderWaitingMax: 64,
  underWayMax: 1024,
  ofSenderUnderWayMax: 256,
  silentMsMax: 5000,
  lookMs: 1000,
  reportMsMax: 30_000,
};

/** Larger bodies are passed on as they come, after the owner was asked; smaller ones may be sent to the next owner too. */
const BUFFERED_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_S = 2;

/** Where a request leads to, and what may be done with it. */
export interface Led {
  /** The id that leads to its slot. */
  readonly key: string;
  readonly isPaid: boolean;
  /** It changes nothing and is not paid: it may be sent twice. */
  readonly isRepeatable: boolean;
}

/** Requests whose slot is at another server are passed on to it, and its answers back. */
export class Forwarding {
  /** Tokens that other servers accepted. */
  readonly known = new KnownElsewhere();
  /** What other servers pass on to this one. */
  readonly ofPeers: PeerRequests;
  readonly #options: ForwardingOptions;
  readonly #limits: ForwardingLimits;
  readonly #connections: PeerConnections;
  readonly #waits: SlotWaits;
  readonly #underWay: Places;
  readonly #reports: DeliveryReports;
  /** Event streams of other servers that are passed on. */
  readonly #streams = new Set<OwnerRequest>();
  readonly #senderOf: (exchange: Exchange) => string;

  constructor(options: ForwardingOptions) {
    const { slots, calls, signatures } = options;
    const limits = { ...LIMITS, ...options.limits };
    const senders = new Senders(slots, { known: this.known, signatures });
    this.#options = options;
    this.#connections = new PeerConnections(options.ca);
    this.#limits = limits;
    this.#senderOf = (exchange) => senders.of(exchange);
    this.#waits = new SlotWaits(limits, this.#senderOf);
    this.#underWay = new Places(limits.underWayMax, limits.ofSenderUnderWayMax);
    this.#reports = new DeliveryReports(calls);
    this.ofPeers = new PeerRequests(slots, signatures, limits.reportMsMax);
  }

  /** Requests that wait for their slots to come to rest. */
  get waiting(): number {
    return this.#waits.count;
  }

  /** Requests that are at other servers. */
  get underWay(): number {
    return this.#underWay.taken;
  }

  /**
   * Answers a client's request, here or by the owner of its slot. What is paid with a payment that nobody signed is answered by `front`.
   * @throws settlement_pending where a payment was lost with the owner, interrupted for what is lost otherwise, books_unavailable where
   *   nothing happened because the slot did not come to rest
   */
  async answer(exchange: Exchange, led: Led, here: AnswerHere): Promise<Reply> {
    const place = this.#options.slots.of(led.key);
    if ('services' in place) return here(place.services);
    const { front } = this.#options.slots;
    // Made-up payments stay here.
    if (led.isPaid && !front.gate.isGenuine(exchange.payment)) return here(front);
    const wait = this.#waits.of(exchange);
    const way: Way = { exchange, led, wait, body: undefined, isSunk: false, isLost: false };
    try {
      const reply = await this.#look(way, here);
      this.#observe('answered', exchange);
      return reply;
    } catch (error) {
      this.#observe(exchange.signal.aborted ? 'left' : way.isLost ? 'lost' : 'refused', exchange);
      throw error;
    } finally {
      wait.end();
    }
  }

  /** This server stops: event streams would keep it until their jobs end. Their clients connect again, elsewhere. */
  endStreams(): void {
    for (const request of this.#streams) request.destroy();
  }

  /** Ends the reports that are under way. Answers of this server that wait for one count as lost. */
  async close(): Promise<void> {
    await this.#reports.whenIdle();
    this.ofPeers.close();
    this.#connections.close();
  }

  /** Until somebody answers. */
  async #look(way: Way, here: AnswerHere): Promise<Reply> {
    const { exchange, led, wait } = way;
    const token = led.isPaid ? undefined : bearerToken(exchange);
    this.#prove(exchange, led, token);
    for (let isRepeated = false; ; ) {
      exchange.signal.throwIfAborted();
      const place = this.#options.slots.of(led.key);
      if ('services' in place) {
        if (way.isSunk) throw slotMoves();
        if (way.body) exchange.body.putBack(way.body);
        return here(place.services);
      }
      if ('moving' in place) {
        await wait.until(place.moving);
        continue;
      }
      const asked = await this.#ask(way, place.peer);
      if (typeof asked === 'object') {
        this.#remember(led, token, asked);
        return asked.reply;
      }
      if (asked === 'lost') {
        if (!led.isRepeatable || isRepeated || way.isSunk) throw lost(led);
        isRepeated = true;
        way.isLost = false;
      }
      await wait.untilAgain(place.moved);
    }
  }

  /** Passes the request on to the owner of its slot, once. */
  async #ask(way: Way, peer: Peer): Promise<Asked | 'away' | 'lost'> {
    const { exchange, led } = way;
    const { slots, signatures } = this.#options;
    const body = await this.#bodyFor(way, peer);
    if (body === 'away') return 'away';
    const leave = this.#underWay.take(() => this.#senderOf(exchange));
    if (!leave) throw crowded();
    const ends = [leave];
    const end = () => {
      for (const each of ends.splice(0)) each();
    };
    try {
      const request = new OwnerRequest(exchange, body, { peer, connections: this.#connections, signatures });
      const isThere = () => {
        const place = slots.of(led.key);
        return 'peer' in place && place.peer.id === peer.id;
      };
      ends.push(watch(request, isThere, this.#limits));
      const answer = await request.answer(body);
      if (typeof answer === 'object') {
        const asked = await this.#relayed(exchange, request, answer.response, { peer, end });
        if (asked) return asked;
      }
      end();
      way.isSunk ||= body === 'streamed';
      way.isLost = answer !== 'away';
      return answer === 'away' ? 'away' : 'lost';
    } catch (error) {
      end();
      throw error;
    }
  }

  /** A small body is read whole, once; of a larger one nothing is taken before the owner has the slot. */
  async #bodyFor(way: Way, peer: Peer): Promise<PassedBody | 'away'> {
    const { exchange, led } = way;
    if (way.isSunk) throw slotMoves();
    const { headers } = exchange.head;
    const isChunked = headers.has('transfer-encoding');
    const bytes = Number(headers.get('content-length') ?? 0);
    if (!isChunked && bytes === 0) return undefined;
    if (!isChunked && bytes <= BUFFERED_BYTES_MAX) {
      way.body ??= await exchange.body.whole(BUFFERED_BYTES_MAX);
      return way.body;
    }
    try {
      const told = await this.#options.calls.call(peer, OWNS_CALL, { key: led.key });
      return (told as { owns?: unknown }).owns === true ? 'streamed' : 'away';
    } catch (error) {
      exchange.signal.throwIfAborted();
      if (error instanceof PeerAwayError || error instanceof PeerLostError) return 'away';
      throw error;
    }
  }

  /** @returns undefined where the owner is gone before all of a small answer came */
  async #relayed(
    exchange: Exchange,
    request: OwnerRequest,
    response: IncomingMessage,
    { peer, end }: { readonly peer: Peer; readonly end: () => void },
  ): Promise<Asked | undefined> {
    const id = response.headers[DELIVERY_HEADER] as string | undefined;
    const isAccepted = response.headers[ACCEPTED_HEADER] !== undefined;
    if (response.headers['content-type']?.startsWith('text/event-stream')) this.#streams.add(request);
    const reply = await relayedAnswer(exchange, request, response, (whole) => {
      end();
      this.#streams.delete(request);
      if (!whole) request.destroy();
      if (id !== undefined) this.#reports.send(peer, id, whole);
    });
    return reply && { reply, isAccepted };
  }

  /** The bytes of who is known count with those of the known. */
  #prove(exchange: Exchange, { key, isPaid }: Led, token: string | undefined): void {
    if (exchange.body.complete) return;
    if (isPaid) {
      const payer = this.#options.slots.front.gate.knownPayer(exchange.payment);
      if (payer !== undefined) exchange.body.proved(payerTenantId(payer));
    } else if (token !== undefined && this.known.opens(key, token)) exchange.body.proved(key);
  }

  #remember({ key, isPaid }: Led, token: string | undefined, { reply, isAccepted }: Asked): void {
    const tenant = key as TenantId;
    if (isPaid && isAccepted && isPayer(tenant))
      this.#options.slots.front.gate.paidElsewhere(walletOf(tenant));
    if (token === undefined) return;
    if (isAccepted) this.known.remember(key, token);
    else if (reply.status === 401) this.known.forget(key, token);
  }

  #observe(outcome: ForwardedEvent['outcome'], exchange: Exchange): void {
    this.#options.observe?.({ outcome, milliseconds: performance.now() - exchange.startedAt });
  }
}

/** What the owner answered. */
interface Asked {
  readonly reply: RelayedReply;
  readonly isAccepted: boolean;
}

/** A request while it looks for the owner of its slot. */
interface Way {
  readonly exchange: Exchange;
  readonly led: Led;
  readonly wait: SlotWait;
  /** All of a small body. */
  body: Buffer | undefined;
  /** Its body was passed on as it came: it cannot be sent to another server. */
  isSunk: boolean;
  /** It may have happened. */
  isLost: boolean;
}

/** Gives up an owner that stands still, once its slot is elsewhere. @returns ends it */
function watch(
  request: OwnerRequest,
  isThere: () => boolean,
  { lookMs, silentMsMax }: ForwardingLimits,
): () => void {
  let movedAt: number | undefined;
  const timer = setInterval(() => {
    movedAt = isThere() ? undefined : (movedAt ?? performance.now());
    if (movedAt !== undefined && Math.min(performance.now() - movedAt, request.silentMs) >= silentMsMax)
      request.destroy();
  }, lookMs).unref();
  return () => clearInterval(timer);
}

function lost({ isPaid }: Led): FarthingError {
  return !isPaid
    ? new FarthingError(
        'interrupted',
        'The server that had the request is gone. Look whether it was done, or send it again.',
        { retryAfterS: RETRY_AFTER_S },
      )
    : new FarthingError(
        'settlement_pending',
        'The server that had the request is gone. Send the same request again: it is charged once.',
        { retryAfterS: RETRY_AFTER_S },
      );
}
