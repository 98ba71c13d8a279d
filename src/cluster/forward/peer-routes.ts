import { hash } from 'node:crypto';
import { FarthingError, toFarthingError } from '@farthing/protocol/error';
import type { Exchange } from '@farthing/server/http/exchange/exchange';
import { problem } from '@farthing/server/http/exchange/problem';
import type { JsonReply } from '@farthing/server/http/exchange/reply';
import type { Route } from '@farthing/server/http/exchange/route';
import { callerOf } from '../peers/peer-caller.ts';
import {
  PEER_BODY_BYTES_MAX,
  PEER_DIGEST_HEADER,
  PEER_OUTCOME_HEADER,
  PEER_PATH,
  PeerAwayError,
} from '../peers/peer-calls.ts';
import type { PeerSignatures } from '../peers/peer-signature.ts';

/**
 * Handlers of other servers' calls, by name. A handler checks its input.
 * @throws FarthingError, which the caller gets; PeerAwayError when nothing happened and another server has to be asked
 */
export type PeerHandlers = Readonly<Record<string, (body: unknown) => Promise<object>>>;

/** Bodies of other servers count together. */
const OWNER = 'peers';

/**
 * Routes below /peer/v1/: verified by signature (else 404 as an unknown path), not in OpenAPI.
 * @param onFault called with errors of handlers that are our own fault
 */
export function peerRoutes(
  handlers: PeerHandlers,
  signatures: PeerSignatures,
  onFault: (error: unknown, requestId: string) => void = () => undefined,
): Route[] {
  return Object.entries(handlers).map(([name, handler]) => ({
    method: 'POST',
    path: PEER_PATH + name,
    isHidden: true,
    handle: async (exchange) => {
      const body = await signedBody(exchange, signatures);
      try {
        return outcome('done', { status: 200, headers: {}, body: { ...(await handler(body)) } });
      } catch (error) {
        const isAway = error instanceof PeerAwayError;
        if (!isAway && toFarthingError(error).code === 'internal') onFault(error, exchange.requestId);
        const shown = isAway ? new FarthingError('interrupted', 'Another server is to be asked.') : error;
        return outcome(isAway ? 'away' : 'failed', problem(shown, exchange.requestId));
      }
    },
  }));
}

/** Reads nothing of a body that no server of the cluster sent. @throws not_found */
async function signedBody(exchange: Exchange, signatures: PeerSignatures): Promise<unknown> {
  if (callerOf(exchange, signatures) === undefined) throw unknownPath();
  exchange.body.proved(OWNER);
  const body = await exchange.body.whole(PEER_BODY_BYTES_MAX);
  if (hash('sha256', body, 'hex') !== exchange.header(PEER_DIGEST_HEADER)) throw unknownPath();
  return JSON.parse(body.toString('utf8'));
}

function unknownPath(): FarthingError {
  return new FarthingError('not_found', 'No such path. /openapi.json lists them all.');
}

function outcome(name: 'done' | 'failed' | 'away', answer: JsonReply): JsonReply {
  return { ...answer, headers: { ...answer.headers, [PEER_OUTCOME_HEADER]: name } };
}
