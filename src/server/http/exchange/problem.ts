import type { Answer } from '@farthing/payment/purchase';
import { toFarthingError } from '@farthing/protocol/error';
import type { Problem } from '@farthing/protocol/schema/service';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** A URN instead of an address, so that it holds wherever the server runs. */
const ERROR_TYPE_PREFIX = 'urn:farthing:error:';

/** Whether an error is a fault of the server, not work that was aborted because the client left. */
export function isFault(error: unknown, left: AbortSignal): boolean {
  const isAbort =
    left.aborted && (error === left.reason || (error as Error | undefined)?.name === 'AbortError');
  return !isAbort && toFarthingError(error).code === 'internal';
}

/** Any error as an RFC 9457 problem document. `charged`: failures take no money; while a settlement is open, it is unknown. */
export function problem(error: unknown, requestId: string): Answer {
  const { status, title, code, detail, retryAfterS, facts } = toFarthingError(error);
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_MEDIA_TYPE, 'Cache-Control': 'no-store' };
  if (retryAfterS !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfterS)));
  else if (status === 503 || status === 429) headers['Retry-After'] = '1';
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (Array.isArray(facts.allow)) headers.Allow = facts.allow.join(', ');
  const body: Problem = {
    type: ERROR_TYPE_PREFIX + code,
    title,
    status,
    code,
    detail,
    ...facts,
    request_id: requestId,
    charged: code === 'settlement_pending' ? null : false,
  };
  return { status, headers, body };
}
