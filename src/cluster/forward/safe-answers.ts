import { FarthingError } from '@farthing/protocol/error';
import type { Exchange } from '@farthing/server/http/exchange/exchange';
import type { EventsReply, Reply } from '@farthing/server/http/exchange/reply';
import type { Route } from '@farthing/server/http/exchange/route';
import type { RequestCount } from './request-count.ts';

/** Longer than a new leader of the log's engine takes: 3.2 s at most where it was measured. */
const LAG_MS_MAX = 5000;
const LOOK_MS = 500;
const LAG_RETRY_AFTER_S = 5;
const UNTOLD_RETRY_AFTER_S = 2;

/** Conditions for the answers of a slot. */
export interface Safety {
  /** Resolves once the slot's writes until now may be acknowledged; absent: at once. @throws FarthingError when they never may */
  readonly stable?: () => Promise<void>;
  /** Milliseconds since the oldest write that may not be acknowledged yet; absent: none ever waits. */
  readonly lagMs?: () => number;
  /** Counts running requests; absent: not counted. */
  readonly running?: RequestCount;
}

/**
 * The same answers, each sent only once what it reports is safe in the slot's log. While the log cannot be written, new requests are
 * refused before they begin, and running ones are given up. Pending work resumes when the log returns; the same request then gets its
 * answer. A request ends once its delivery is known, because that is recorded in the slot's store.
 */
export function safeAnswers(
  handle: Route['handle'],
  { stable = async () => undefined, lagMs = () => 0, running }: Safety,
  { lagMsMax = LAG_MS_MAX, lookMs = LOOK_MS }: { lagMsMax?: number; lookMs?: number } = {},
): Route['handle'] {
  return async (exchange, params) => {
    if (lagMs() > lagMsMax) throw lags('books_unavailable', 'Try again.');
    running?.begin();
    let hasEnded = true;
    let timer: NodeJS.Timeout | undefined;
    const answering = whenStable(exchange, async () => handle(exchange, params), stable);
    const givenUp = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (lagMs() <= lagMsMax) return;
        // Whether a payment that came with the request will be charged is not known.
        const code = exchange.payment.isPresent ? 'settlement_pending' : 'books_unavailable';
        reject(lags(code, 'Send the same request again.'));
      }, lookMs);
    });
    try {
      const reply = await Promise.race([answering, givenUp]);
      if (!running || !('delivered' in reply) || !reply.delivered) return reply;
      const { delivered } = reply;
      hasEnded = false;
      return {
        ...reply,
        delivered: (whole: boolean) => {
          delivered(whole);
          running.end();
        },
      };
    } catch (error) {
      // An answer that comes after all counts as not delivered.
      void answering.then(withdraw, () => undefined);
      throw error;
    } finally {
      clearInterval(timer);
      if (hasEnded) running?.end();
    }
  };
}

async function whenStable(
  exchange: Exchange,
  answer: () => Promise<Reply>,
  stable: () => Promise<void>,
): Promise<Reply> {
  let reply: Reply;
  try {
    reply = await answer();
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
}

/** Whether a payment that came with the request will be charged is not known: what was done may stand in the log. */
function throwUntold(exchange: Exchange, cause: unknown): never {
  if (!exchange.payment.isPresent) throw cause;
  throw new FarthingError('settlement_pending', 'The answer was interrupted. Send the same request again.', {
    retryAfterS: UNTOLD_RETRY_AFTER_S,
    cause,
  });
}

async function* stableEvents(
  events: EventsReply['events'],
  stable: () => Promise<void>,
): EventsReply['events'] {
  for await (const event of events) {
    await stable();
    yield event;
  }
}

/** An answer that is not sent after all. */
async function withdraw(reply: Reply): Promise<void> {
  if ('content' in reply) await reply.content.close();
  else if ('events' in reply) reply.close();
  else reply.delivered?.(false);
}

function lags(code: 'books_unavailable' | 'settlement_pending', advice: string): FarthingError {
  return new FarthingError(code, `The books cannot be written at the moment. ${advice}`, {
    retryAfterS: LAG_RETRY_AFTER_S,
  });
}
