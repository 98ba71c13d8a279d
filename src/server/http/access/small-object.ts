import type { Exchange } from '../exchange/exchange.ts';
import { parseJsonObject } from '../exchange/json.ts';
import type { Services } from './services.ts';

/** A small JSON body, or what is wrong with it. */
export interface SmallObject {
  readonly object?: Record<string, unknown>;
  readonly failure?: unknown;
}

/** Reads the body before the payment where the quote depends on it. Its faults are for the route to report, to paid requests only. */
export async function readSmallObject({ limits }: Services, exchange: Exchange): Promise<SmallObject> {
  try {
    const { payment } = exchange;
    if (!payment.isPresent && Number(exchange.header('content-length') ?? 0) > limits.jsonBodyBytesMax)
      return {};
    return { object: parseJsonObject((await exchange.body.whole(limits.jsonBodyBytesMax)).toString('utf8')) };
  } catch (failure) {
    return { failure };
  }
}
