import type { ErrorCode } from '@farthing/protocol/error';

/** Errors that only a client can find; every other code is the server's own. */
export const CLIENT_CODES = {
  price_over_limit: 'A call costs more than maxPriceUsd. Nothing was signed.',
  budget_exceeded: 'The budget does not allow the call. Nothing was signed.',
  payment_declined: 'The price was not approved. Nothing was signed.',
  payment_unsupported: 'No offered way to pay can be used here. Nothing was signed.',
  payment_refused: 'The server did not take the payment.',
  wallet_missing: 'A paid call needs an account or a signer.',
  answer_lost: 'No answer came; the call may have been charged.',
  server_unreachable: 'No answer came to a call that costs nothing.',
  answer_unexpected: 'The answer is not one of this interface.',
  ingest_timeout: 'The file is accepted but was not searchable in time.',
  source_unreadable: 'The file or stream cannot be read.',
  receipt_invalid: 'The disposal receipt is not proved by the server’s keys.',
  receipt_unchecked: 'The disposal receipt cannot be checked in this runtime.',
} as const;

export type ClientCode = keyof typeof CLIENT_CODES;

export interface ErrorFacts {
  readonly status?: number;
  readonly retryAfterS?: number;
  readonly requestId?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Every failure of a call. Match on `code`: one of the server's, or one of `CLIENT_CODES`. */
export class FarthingError extends Error {
  readonly code: ErrorCode | ClientCode;
  /** The cause and the remedy. */
  readonly detail: string;
  /** HTTP status, when the server answered. */
  readonly status: number | undefined;
  /** Seconds after which trying again makes sense. */
  readonly retryAfterS: number | undefined;
  readonly requestId: string | undefined;
  /** Further members of the server's problem document, or the figures of a refusal. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode | ClientCode, detail: string, about: ErrorFacts = {}) {
    super(`${code}: ${detail}`, { cause: about.cause });
    this.name = 'FarthingError';
    this.code = code;
    this.detail = detail;
    this.status = about.status;
    this.retryAfterS = about.retryAfterS;
    this.requestId = about.requestId;
    this.facts = about.facts ?? {};
  }
}

/** A problem document as an error. @param key idempotency key of the call: part of the facts while the charge is unknown */
export function problemError(status: number, headers: Headers, body: unknown, key?: string): FarthingError {
  const { code, detail, request_id, type, title, charged, ...facts } = (body ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof code !== 'string' || typeof detail !== 'string')
    return new FarthingError('answer_unexpected', `The server answered ${status} without saying why.`, {
      status,
    });
  const seconds = Number(headers.get('Retry-After'));
  return new FarthingError(code as ErrorCode, detail, {
    status,
    facts: charged === null && key !== undefined ? { ...facts, idempotency_key: key } : facts,
    requestId: typeof request_id === 'string' ? request_id : undefined,
    retryAfterS: seconds > 0 ? seconds : undefined,
  });
}
