import { FarthingError } from '../../domain/error.ts';
import type { Exchange } from '../../http/exchange/exchange.ts';
import type { EventsReply, Reply } from '../../http/exchange/reply.ts';
import type { Route } from '../../http/exchange/route.ts';

const RETRY_AFTER_S = 2;

/** Resolves once a slot's writes until now may be acknowledged. @throws FarthingError when they never may */
export type Stable = () => Promise<void>;

/** The same answers, each sent only once what it reports is safe. */
export function stableReplies(handle: Route['handle'], stable: Stable): Route['handle'] {
  return async (exchange, params) => {
    let reply: Reply;
    try {
      reply = await handle(exchange, params);
    } catch (error) {
      await stable().catch((cause: unknown) => throwUntold(exchange, cause));
      throw error;
    }
    try {
      await stable();
    } catch (error) {
      await withdraw(reply);
      throwUntold(exchange, error);
    }
    return 'events' in reply ? { ...reply, events: stableEvents(reply.events, stable) } : reply;
  };
}

/** Whether a payment that came with the request will be charged is not known: what was done may stand in the log. */
function throwUntold(exchange: Exchange, cause: unknown): never {
  if (!exchange.payment.isPresent) throw cause;
  throw new FarthingError('settlement_pending', 'The answer was interrupted. Send the same request again.', {
    retryAfterS: RETRY_AFTER_S,
    cause,
  });
}

async function* stableEvents(events: EventsReply['events'], stable: Stable): EventsReply['events'] {
  for await (const event of events) {
    await stable();
    yield event;
  }
}

/** An answer that is not sent after all. */
export async function withdraw(reply: Reply): Promise<void> {
  if ('content' in reply) await reply.content.close();
  else if ('events' in reply) reply.close();
  else reply.delivered?.(false);
}
