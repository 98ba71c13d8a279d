import type { IncomingMessage } from 'node:http';
import type { Exchange } from '../../http/exchange/exchange.ts';
import type { RelayedReply } from '../../http/exchange/reply.ts';
import type { OwnerRequest } from './owner-request.ts';
import { passedBack } from './passed-headers.ts';

/** Smaller answers reach the client whole or not at all. */
const WHOLE_BYTES_MAX = 64 * 1024;

/**
 * The owner's answer for the client, as it comes.
 * @param delivered called once, with whether all of it reached the network
 * @returns undefined where the owner is gone before all of a small answer came
 */
export async function relayedAnswer(
  exchange: Exchange,
  request: OwnerRequest,
  response: IncomingMessage,
  delivered: (whole: boolean) => void,
): Promise<RelayedReply | undefined> {
  const { headers, statusCode: status = 0, statusMessage: reason = '' } = response;
  const length = headers['content-length'];
  const bytes = length === undefined ? undefined : Number(length);
  const pieces = request.pieces();
  const body = { bytes, pieces, isComplete: () => response.complete };
  const reply = { status, reason, sent: passedBack(response), delivered };
  if (exchange.head.method === 'HEAD' || status === 304) {
    await gathered(pieces);
    return { ...reply, relayed: body };
  }
  if (bytes === undefined || bytes > WHOLE_BYTES_MAX) return { ...reply, relayed: body };
  const whole = await gathered(pieces);
  return whole.byteLength < bytes ? undefined : { ...reply, relayed: { ...body, whole } };
}

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return all.length === 1 ? all[0]! : Buffer.concat(all);
}
