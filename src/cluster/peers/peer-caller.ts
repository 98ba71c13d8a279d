import type { Exchange } from '@farthing/server/http/exchange/exchange';
import { aboutCall, PEER_DIGEST_HEADER } from './peer-calls.ts';
import { PEER_HEADER, type PeerSignatures } from './peer-signature.ts';

/** The server that signed a call; undefined where none did. Whether the body is what it signed is not looked at. */
export function callerOf(
  exchange: Pick<Exchange, 'head' | 'header'>,
  signatures: PeerSignatures,
): string | undefined {
  const header = exchange.header(PEER_HEADER);
  if (header === undefined) return undefined;
  const { method, path, query } = exchange.head;
  const about = aboutCall(exchange.header(PEER_DIGEST_HEADER) ?? '');
  return signatures.signerOf(header, { method, path: query === '' ? path : `${path}?${query}`, about });
}
