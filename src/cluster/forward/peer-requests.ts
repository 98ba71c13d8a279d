import { FarthingError } from '@farthing/protocol/error';
import type { Services } from '@farthing/server/http/access/services';
import type { Exchange } from '@farthing/server/http/exchange/exchange';
import type { Reply } from '@farthing/server/http/exchange/reply';
import { PEER_HEADER, type PeerSignatures } from '../peers/peer-signature.ts';
import { AwaitedDeliveries, DELIVERED_CALL } from './deliveries.ts';
import { ACCEPTED_HEADER, aboutForwarded, DELIVERY_HEADER, ELSEWHERE_HEADER } from './passed-headers.ts';
import type { ServicesBySlot, SlotServices } from './slot-places.ts';

/** Answers a request with the services of its slot, at this server. */
export type AnswerHere = (services: SlotServices) => Promise<Reply> | Reply;

/** Below the path of calls. */
export const OWNS_CALL = 'owns';

/** The owner's side: clients' requests that other servers pass on. */
export class PeerRequests {
  readonly #slots: ServicesBySlot;
  readonly #signatures: PeerSignatures;
  readonly #deliveries: AwaitedDeliveries;

  /** @param reportMsMax time limit for a server that passed an answer on to report its delivery */
  constructor(slots: ServicesBySlot, signatures: PeerSignatures, reportMsMax: number) {
    this.#slots = slots;
    this.#signatures = signatures;
    this.#deliveries = new AwaitedDeliveries(reportMsMax);
  }

  /** Handlers of other servers' calls. */
  readonly handlers = {
    [OWNS_CALL]: async (body: unknown) => ({ owns: 'services' in this.#slots.of(textOf(body, 'key')) }),
    [DELIVERED_CALL]: async (body: unknown) => {
      this.#deliveries.report(textOf(body, 'id'), (body as { whole?: unknown }).whole === true);
      return {};
    },
  };

  /** Whether another server passed the request on. */
  passedOn(exchange: Exchange): boolean {
    const header = exchange.header(PEER_HEADER);
    if (header === undefined) return false;
    const { method, path, query } = exchange.head;
    const target = query === '' ? path : `${path}?${query}`;
    const about = aboutForwarded(exchange.header('x-request-id') ?? '');
    return this.#signatures.signerOf(header, { method, path: target, about }) !== undefined;
  }

  /** Answers it, unless the slot is not here: it is never passed on again. */
  async answer(exchange: Exchange, key: string, here: AnswerHere): Promise<Reply> {
    const place = this.#slots.of(key);
    if (!('services' in place))
      return { status: 421, headers: { [ELSEWHERE_HEADER]: 'elsewhere' }, body: {} };
    const reply = await here(place.services);
    if ('relayed' in reply) return reply;
    const headers = { ...reply.headers, ...acceptance(exchange, place.services) };
    if (!('delivered' in reply) || !reply.delivered) return { ...reply, headers };
    const id = this.#deliveries.add(reply.delivered);
    return {
      ...reply,
      headers: { ...headers, [DELIVERY_HEADER]: id },
      delivered: (whole) => {
        if (!whole) this.#deliveries.report(id, false);
      },
    };
  }

  /** Answers that wait for a report count as lost. */
  close(): void {
    this.#deliveries.close();
  }
}

/** Reports to the server that passed the request on whether the sender is known. */
function acceptance(exchange: Exchange, { gate }: Services): Record<string, string> {
  const isKnown = exchange.payment.isPresent
    ? gate.knownPayer(exchange.payment) !== undefined
    : exchange.body.isProved;
  return isKnown ? { [ACCEPTED_HEADER]: '1' } : {};
}

/** @throws field_invalid */
function textOf(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  if (typeof value !== 'string') throw new FarthingError('field_invalid', `${name}: Send text.`);
  return value;
}
