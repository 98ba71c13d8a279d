import { FarthingError } from '@farthing/protocol/error';

const RETRY_AFTER_S = 5;
const NO_SPACE = 28;
/** The map of a state is full: LMDB's own number. */
const MAP_FULL = -30_792;

/**
 * A write of LMDB whose failure has a code of ours. Inside a transaction no single write is awaited: that fails with its transaction,
 * and is no stray error.
 */
export function written<T>(writing: Promise<T>): Promise<T> {
  const done = writing.catch((error: unknown) => {
    throw refusalOf(error);
  });
  done.catch(noop);
  return done;
}

/** Maps disk errors to `books_unavailable`; other errors stay as they are. */
function refusalOf(error: unknown): unknown {
  const { code, commitError } = (error ?? {}) as { code?: unknown; commitError?: Promise<unknown> };
  // This promise rejects with the cause, for all writes of the transaction: one of them reports it.
  commitError?.catch(noop);
  const isErrno = typeof code === 'number' && (code > 0 || code === MAP_FULL);
  if (commitError === undefined && !isErrno) return error;
  const isFull = code === NO_SPACE || code === MAP_FULL;
  return new FarthingError(
    'books_unavailable',
    `${isFull ? 'The disk of the server is full' : 'The disk of the server refuses writes'}. Try again later.`,
    { retryAfterS: RETRY_AFTER_S, cause: error },
  );
}

function noop(): void {}
