import { FarthingError } from '../../domain/error.ts';
import type { Exchange } from '../../http/exchange/exchange.ts';
import type { Route } from '../../http/exchange/route.ts';
import { withdraw } from './stable-replies.ts';

/** Longer than a new leader of the log's engine takes: 3.2 s at most where it was measured. */
const LAG_MS_MAX = 5000;
const LOOK_MS = 500;
const RETRY_AFTER_S = 5;

/**
 * The same answers, without waiting for a log that cannot be written: new requests are refused before they begin, running ones given up.
 * Pending work resumes when the log returns; the same request gets its answer then.
 * @param lagMs for how long the log has lacked something
 */
export function promptReplies(
  handle: Route['handle'],
  lagMs: () => number,
  { lagMsMax = LAG_MS_MAX, lookMs = LOOK_MS }: { lagMsMax?: number; lookMs?: number } = {},
): Route['handle'] {
  return async (exchange, params) => {
    if (lagMs() > lagMsMax)
      throw new FarthingError('books_unavailable', 'The books cannot be written at the moment. Try again.', {
        retryAfterS: RETRY_AFTER_S,
      });
    const answering = Promise.resolve(handle(exchange, params));
    let timer: NodeJS.Timeout | undefined;
    const givenUp = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (lagMs() > lagMsMax) reject(interruption(exchange));
      }, lookMs);
    });
    try {
      return await Promise.race([answering, givenUp]);
    } catch (error) {
      // An answer that comes after all counts as not delivered.
      void answering.then(withdraw, () => undefined);
      throw error;
    } finally {
      clearInterval(timer);
    }
  };
}

/** Whether a payment that came with the request will be charged is not known. */
function interruption(exchange: Exchange): FarthingError {
  return new FarthingError(
    exchange.payment.isPresent ? 'settlement_pending' : 'books_unavailable',
    'The books cannot be written at the moment. Send the same request again.',
    { retryAfterS: RETRY_AFTER_S },
  );
}
