/**
 * Every refusal and failure that an answer can show: its HTTP status and short title. `detail` says what was wrong
 * with this request and what to do. Match on `code`, never on a class: errors cross workers and the native boundary
 * as codes.
 */
export const ERRORS = {
  request_malformed: [400, 'The request cannot be read'],
  field_invalid: [400, 'A field has a wrong type or value'],
  search_empty: [400, 'Neither a query nor a picture was sent'],
  image_unreadable: [400, 'The picture cannot be read'],
  family_unknown: [400, 'A family does not exist'],
  family_not_applicable: [400, 'No family that was asked for applies to this search'],
  family_unavailable: [400, 'The family that was asked for has no model installed'],
  idempotency_key_invalid: [400, 'The idempotency key is not usable'],
  workspace_unauthorized: [401, 'The workspace id or its token is not valid'],
  key_unauthorized: [401, 'The key is not valid'],
  right_missing: [403, 'The key does not have the right for it'],
  not_found: [404, 'Nothing is here'],
  item_not_found: [404, 'No such item'],
  job_not_found: [404, 'No such job'],
  method_not_allowed: [405, 'The path does not take this method'],
  body_too_slow: [408, 'The body arrives too slowly'],
  idempotency_key_reused: [409, 'The idempotency key was used for another request'],
  job_ended: [409, 'The job has already ended'],
  item_replaced: [409, 'A later upload has taken the place of the item'],
  precondition_failed: [412, 'The item with the key is not the one that was expected'],
  item_in_progress: [409, 'The item belongs to an ingest that has not ended'],
  body_too_large: [413, 'The body exceeds the limit'],
  file_too_large: [413, 'The file exceeds the limit'],
  document_too_large: [413, 'The document exceeds a limit'],
  tenant_full: [413, 'The index is full'],
  media_type_unsupported: [415, 'The file type cannot be read'],
  file_empty: [422, 'The file is empty'],
  file_corrupt: [422, 'The file is damaged'],
  file_encrypted: [422, 'The file is encrypted'],
  prepaid_limit_exceeded: [422, 'The wallet has too much prepaid money'],
  prepaid_unavailable: [422, 'Nothing is paid in advance here'],
  spend_limit_exceeded: [422, 'The spend limit does not allow it'],
  ttl_limit_exceeded: [422, 'The workspace would live too long'],
  preview_unavailable: [422, 'There is no preview of this file'],
  rate_limited: [429, 'Too many requests'],
  extraction_timeout: [422, 'Reading the file took too long'],
  extraction_failed: [422, 'The file could not be read'],
  models_invalid: [500, 'The models or their manifest cannot be used'],
  internal: [500, 'Something went wrong here'],
  shard_corrupt: [500, 'The index of this tenant is damaged'],
  shard_model_mismatch: [500, 'The index was filled by another model'],
  interrupted: [503, 'The work was interrupted'],
  overloaded: [503, 'Too much work is waiting'],
  not_ready: [503, 'The server is not ready'],
  facilitator_unavailable: [503, 'The payment facilitator cannot be reached'],
  settlement_too_dear: [503, 'Settling the payment costs more than it brings in'],
  objects_unavailable: [503, 'Files and indexes cannot be reached'],
  books_unavailable: [503, 'The books cannot be written'],
  settlement_pending: [503, 'The outcome of the settlement is not known yet'],
  storage_full: [507, 'The disk is full'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof ERRORS;
/** HTTP statuses of refusals and failures, without 402, which says what to pay. */
export type ErrorStatus = (typeof ERRORS)[ErrorCode][0];

export interface ErrorFacts {
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterS?: number;
  /** Further members of the problem document: figures, the field's name, the list of what can be read. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class FarthingError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryAfterS: number | undefined;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, detail: string, { retryAfterS, facts = {}, cause }: ErrorFacts = {}) {
    super(`${code}: ${detail}`, { cause });
    this.name = 'FarthingError';
    this.code = code;
    this.detail = detail;
    this.retryAfterS = retryAfterS;
    this.facts = facts;
  }

  get status(): number {
    return ERRORS[this.code][0];
  }

  get title(): string {
    return ERRORS[this.code][1];
  }
}

/** The error's code if it is one of ours, whatever class or thread it came from. */
export function errorCode(error: unknown): ErrorCode | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined;
}

/** Anything thrown, as one of ours: unknown errors become `internal` and keep the original as their cause. */
export function toFarthingError(error: unknown): FarthingError {
  if (error instanceof FarthingError) return error;
  const code = errorCode(error);
  const { detail, retryAfterS, facts } = (error ?? {}) as Partial<FarthingError>;
  if (code)
    return new FarthingError(code, detail ?? (error as Error).message, { retryAfterS, facts, cause: error });
  if (isFullDisk(error))
    return new FarthingError('books_unavailable', 'The disk of the server is full. Try again later.', {
      retryAfterS: FULL_DISK_RETRY_S,
      cause: error,
    });
  return new FarthingError('internal', 'The fault is ours and was logged. Try again later.', {
    cause: error,
  });
}

const FULL_DISK_RETRY_S = 5;

function isFullDisk(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The innermost cause of an error: a library says `fetch failed`, and its cause which connection was refused. */
export function rootCause(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? rootCause(cause) : String(error);
}
