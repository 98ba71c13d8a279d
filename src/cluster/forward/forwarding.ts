import { FarthingError } from '@farthing/protocol/error';
import { isPayer, payerTenantId, type TenantId, walletOf } from '@farthing/protocol/id';
import { InFlightLimit } from '@farthing/queues/in-flight-limit';
import { OpenedTokens } from '@farthing/server/http/access/opened-tokens';
import { bearerToken } from '@farthing/server/http/access/workspace-access';
import type { Exchange } from '@farthing/server/http/exchange/exchange';
import type { RelayedReply, Reply } from '@farthing/server/http/exchange/reply';
import type { ForwardedEvent } from '@farthing/server/metrics/metrics';
import type { Peer } from '../peers/peer.ts';
import { PeerAwayError, type PeerCalls, PeerLostError } from '../peers/peer-calls.ts';
import { PeerConnections } from '../peers/peer-connections.ts';
import type { PeerSignatures } from '../peers/peer-signature.ts';
import { DeliveryReports } from './deliveries.ts';
import { HandoverWait, slotMoves, tooManyWait } from './handover-wait.ts';
import { OwnerRequest, type PassedBody, type Sent } from './owner-request.ts';
import { ACCEPTED_HEADER, DELIVERY_HEADER } from './passed-headers.ts';
import { type AnswerHere, OWNS_CALL, PeerRequests } from './peer-requests.ts';
import type { ServicesBySlot, SlotServices } from './slot-places.ts';

export interface ForwardingOptions {
  readonly slots: ServicesBySlot;
  readonly calls: PeerCalls;
  readonly signatures: PeerSignatures;
  /** CA certificates of the other servers (PEM), where Node does not trust theirs. */
  readonly ca?: string | undefined;
  /** Sender of a request, for fair queues. */
  readonly senderOf: (exchange: Exchange) => string;
  readonly observe?: (event: ForwardedEvent) => void;
  readonly limits?: Partial<ForwardingLimits>;
}

export interface ForwardingLimits {
  /** A slot that is on its way between two servers is waited for. */
  readonly waitMsMax: number;
  /** Requests that wait for one, and of these those of one sender once a quarter of all wait. */
  readonly waitingMax: number;
  readonly ofSenderWaitingMax: number;
  /** Requests at other servers, and of these those of one sender once there is a quarter of all. */
  readonly underWayMax: number;
  readonly ofSenderUnderWayMax: number;
  /** Give up on an owner that lost its slot and has been silent this long. */
  readonly silentMsMax: number;
  /** Interval of checks for such owners. */
  readonly lookMs: number;
  /** Time limit for a server that passed an answer on to report its delivery. */
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

const TOKENS_REMEMBERED_MAX = 4096;
/** Larger bodies are passed on as they come, after the owner was asked; smaller ones may be sent to the next owner too. */
const BUFFERED_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_S = 2;

/** Target of a request, and how it may be handled. */
export interface Destination {
  /** The id that determines its slot. */
  readonly key: string;
  readonly isPaid: boolean;
  /** It changes nothing and is not paid: it may be retried. */
  readonly isRepeatable: boolean;
}

/** Requests whose slot is at another server are passed on to it, and its answers back. */
export class Forwarding {
  /** Tokens that other servers accepted. */
  readonly known = new OpenedTokens(TOKENS_REMEMBERED_MAX);
  /** Requests and reports that other servers pass to this one. */
  readonly ofPeers: PeerRequests;
  readonly #options: ForwardingOptions;
  /** Requests that wait for their slots to come to rest. */
  readonly #waiting: InFlightLimit;
  readonly #deps: SenderDeps;

  constructor(options: ForwardingOptions) {
    const { slots, calls, signatures } = options;
    const limits = { ...LIMITS, ...options.limits };
    this.#options = options;
    this.#waiting = new InFlightLimit(limits.waitingMax, limits.ofSenderWaitingMax);
    this.#deps = {
      ...options,
      limits,
      known: this.known,
      connections: new PeerConnections(options.ca),
      inFlight: new InFlightLimit(limits.underWayMax, limits.ofSenderUnderWayMax),
      reports: new DeliveryReports(calls),
      streams: new Set(),
    };
    this.ofPeers = new PeerRequests(slots, signatures, limits.reportMsMax);
  }

  /** Requests that wait for their slots to come to rest. */
  get waiting(): number {
    return this.#waiting.inside;
  }

  /** Requests that are at other servers. */
  get underWay(): number {
    return this.#deps.inFlight.inside;
  }

  /**
   * Answers a client's request, here or by the owner of its slot. Requests paid with an unsigned payment are answered by `front`.
   * @throws settlement_pending where a payment was lost with the owner, interrupted for other losses, books_unavailable where nothing
   * happened because the slot found no owner in time
   */
  async answer(exchange: Exchange, destination: Destination, here: AnswerHere): Promise<Reply> {
    const { slots, observe } = this.#options;
    const place = slots.of(destination.key);
    if ('services' in place) return here(place.services);
    // Made-up payments stay here.
    if (destination.isPaid && !slots.front.gate.isGenuine(exchange.payment)) return here(slots.front);
    const enter = () => this.#waiting.enter(() => this.#deps.senderOf(exchange));
    const wait = new HandoverWait(exchange.signal, enter, this.#deps.limits.waitMsMax);
    const request = new ForwardedRequest(exchange, destination, wait, this.#deps);
    let outcome: ForwardedEvent['outcome'] = 'answered';
    try {
      return await request.answer(here);
    } catch (error) {
      outcome = exchange.signal.aborted ? 'left' : request.isLost ? 'lost' : 'refused';
      throw error;
    } finally {
      observe?.({ outcome, milliseconds: performance.now() - exchange.startedAt });
      wait.end();
    }
  }

  /** This server stops: event streams would keep it until their jobs end. Their clients connect again, elsewhere. */
  endStreams(): void {
    for (const request of this.#deps.streams) request.destroy();
  }

  /** Ends the reports that are under way. Answers of this server that wait for one count as lost. */
  async close(): Promise<void> {
    await this.#deps.reports.whenIdle();
    this.ofPeers.close();
    this.#deps.connections.close();
  }
}

/** Sends requests to other servers. */
interface SenderDeps extends Pick<ForwardingOptions, 'slots' | 'calls' | 'signatures' | 'senderOf'> {
  readonly limits: ForwardingLimits;
  /** Tokens of workspaces at other servers. */
  readonly known: OpenedTokens;
  readonly connections: PeerConnections;
  readonly inFlight: InFlightLimit;
  readonly reports: DeliveryReports;
  /** Event streams of other servers that are passed on. */
  readonly streams: Set<OwnerRequest>;
}

type State =
  | { readonly name: 'locating' }
  | { readonly name: 'waiting'; readonly moved: Promise<void>; readonly asksAgain: boolean }
  | { readonly name: 'sending'; readonly peer: Peer; readonly moved: Promise<void> }
  | { readonly name: 'here'; readonly services: SlotServices }
  | { readonly name: 'answered'; readonly reply: RelayedReply }
  | { readonly name: 'lost' };

/**
 * A client's request whose slot was not at this server.
 *
 *                                                       it moved, or it is time to ask the same owner again
 *                       ┌─────────────────────────────────────────────────────────┐
 *                       ▼         on its way between two servers                  │
 *     ● ─────────→ locating ──────────────────────────────────────────────→ waiting ──→ refused: 10 s are over,
 *                       │  │                                                      ▲          or too many wait
 *       it is here now  │  │ another server has it                                │
 *                       ▼  ▼                            not taken; or lost, once, │
 *     answered ←───── here  sending ──────────────────────────────────────────────┘
 *         ▲                 │  │  │                     where it may be sent twice
 *         └─────────────────┘  │  └──→ refused: too many are under way, or not taken after its body was streamed
 *          the owner answers   │
 *                              └──→ lost: settlement_pending where it is paid, otherwise interrupted
 *
 * `not taken`: nothing happened there. `lost`: it may have happened; forwarded requests are retried only if they are unpaid reads. A
 * refused request happened nowhere. A client that leaves ends each state.
 */
class ForwardedRequest {
  readonly #exchange: Exchange;
  readonly #destination: Destination;
  readonly #wait: HandoverWait;
  readonly #deps: SenderDeps;
  readonly #token: string | undefined;
  /** All of a small body, once it was read. */
  #body: Buffer | undefined;
  #wasSentTwice = false;
  #state: State = { name: 'locating' };

  constructor(exchange: Exchange, destination: Destination, wait: HandoverWait, deps: SenderDeps) {
    this.#exchange = exchange;
    this.#destination = destination;
    this.#wait = wait;
    this.#deps = deps;
    this.#token = destination.isPaid ? undefined : bearerToken(exchange);
  }

  /** It may have happened; the outcome is unknown. */
  get isLost(): boolean {
    return this.#state.name === 'lost';
  }

  async answer(here: AnswerHere): Promise<Reply> {
    this.#countBytesForSender();
    for (;;) {
      const state = this.#state;
      switch (state.name) {
        case 'locating':
          this.#state = this.#locate();
          break;
        case 'waiting':
          await (state.asksAgain ? this.#wait.untilAgain(state.moved) : this.#wait.until(state.moved));
          this.#state = { name: 'locating' };
          break;
        case 'sending':
          this.#state = await this.#send(state);
          break;
        case 'here':
          if (this.#body) this.#exchange.body.putBack(this.#body);
          return here(state.services);
        case 'answered':
          return state.reply;
        case 'lost':
          throw lost(this.#destination);
      }
    }
  }

  #locate(): State {
    this.#exchange.signal.throwIfAborted();
    const place = this.#deps.slots.of(this.#destination.key);
    if ('services' in place) return { name: 'here', services: place.services };
    if ('moving' in place) return { name: 'waiting', moved: place.moving, asksAgain: false };
    return { name: 'sending', ...place };
  }

  /** Sends the request to the owner of its slot, once. */
  async #send({ peer, moved }: State & { name: 'sending' }): Promise<State> {
    const again: State = { name: 'waiting', moved, asksAgain: true };
    if (this.#isStreamed && !(await this.#isOwner(peer))) return again;
    const body = await this.#readBody();
    const leave = this.#deps.inFlight.enter(() => this.#deps.senderOf(this.#exchange));
    if (!leave) throw tooManyWait();
    let isPassedOn = false;
    try {
      const request = new OwnerRequest(this.#exchange, body, { peer, ...this.#deps });
      const unwatch = this.#watch(request, peer);
      const end = () => {
        unwatch();
        leave();
      };
      try {
        const sent = await request.send(body);
        const reply = sent.outcome === 'answered' && (await this.#relay(request, sent, peer, end));
        if (reply) {
          isPassedOn = true;
          return { name: 'answered', reply };
        }
        if (sent.outcome !== 'not taken') return this.#lost(body, again);
        if (body === 'streamed') throw slotMoves();
        return again;
      } finally {
        if (!isPassedOn) unwatch();
      }
    } finally {
      if (!isPassedOn) leave();
    }
  }

  #lost(body: PassedBody, again: State): State {
    if (!this.#destination.isRepeatable || this.#wasSentTwice || body === 'streamed') return { name: 'lost' };
    this.#wasSentTwice = true;
    return again;
  }

  /** @param end called once the client has the answer, or left @returns undefined where the owner is gone before all of a small answer came */
  async #relay(
    request: OwnerRequest,
    { response }: Sent & { outcome: 'answered' },
    peer: Peer,
    end: () => void,
  ): Promise<RelayedReply | undefined> {
    const { streams, reports } = this.#deps;
    const { headers } = response;
    const id = headers[DELIVERY_HEADER] as string | undefined;
    if (headers['content-type']?.startsWith('text/event-stream')) streams.add(request);
    const reply = await request.relay(response, (whole) => {
      end();
      streams.delete(request);
      if (!whole) request.destroy();
      if (id !== undefined) reports.send(peer, id, whole);
    });
    if (reply) this.#remember(reply.status, headers[ACCEPTED_HEADER] !== undefined);
    return reply;
  }

  /** Gives up an unresponsive owner once it has lost the slot. @returns ends it */
  #watch(request: OwnerRequest, peer: Peer): () => void {
    const { slots, limits } = this.#deps;
    let movedAt: number | undefined;
    const timer = setInterval(() => {
      const place = slots.of(this.#destination.key);
      const isThere = 'peer' in place && place.peer.id === peer.id;
      movedAt = isThere ? undefined : (movedAt ?? performance.now());
      if (movedAt === undefined) return;
      if (Math.min(performance.now() - movedAt, request.silentMs) >= limits.silentMsMax) request.destroy();
    }, limits.lookMs).unref();
    return () => clearInterval(timer);
  }

  /** A body that is not read before it is sent: of its bytes nothing is taken before the owner has the slot. */
  get #isStreamed(): boolean {
    const { headers } = this.#exchange.head;
    return (
      headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > BUFFERED_BYTES_MAX
    );
  }

  async #readBody(): Promise<PassedBody> {
    if (this.#isStreamed) return 'streamed';
    if (Number(this.#exchange.head.headers.get('content-length') ?? 0) === 0) return undefined;
    this.#body ??= await this.#exchange.body.whole(BUFFERED_BYTES_MAX);
    return this.#body;
  }

  /** Whether a server claims to own the slot. */
  async #isOwner(peer: Peer): Promise<boolean> {
    try {
      const answer = await this.#deps.calls.call(peer, OWNS_CALL, { key: this.#destination.key });
      return (answer as { owns?: unknown }).owns === true;
    } catch (error) {
      this.#exchange.signal.throwIfAborted();
      if (error instanceof PeerAwayError || error instanceof PeerLostError) return false;
      throw error;
    }
  }

  /** The bytes of a sender that is known count with those of the known. */
  #countBytesForSender(): void {
    const { body } = this.#exchange;
    const { key, isPaid } = this.#destination;
    const { slots, known } = this.#deps;
    if (body.complete) return;
    if (isPaid) {
      const payer = slots.front.gate.knownPayer(this.#exchange.payment);
      if (payer !== undefined) body.proved(payerTenantId(payer));
    } else if (this.#token !== undefined && known.has(key, this.#token)) body.proved(key);
  }

  #remember(status: number, isAccepted: boolean): void {
    const { key, isPaid } = this.#destination;
    const { slots, known } = this.#deps;
    const tenant = key as TenantId;
    if (isPaid && isAccepted && isPayer(tenant)) slots.front.gate.paidElsewhere(walletOf(tenant));
    if (this.#token === undefined) return;
    if (isAccepted) known.remember(key, this.#token);
    else if (status === 401) known.forget(key, this.#token);
  }
}

function lost({ isPaid }: Destination): FarthingError {
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
