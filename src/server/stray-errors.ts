/** What a process does with errors that nobody waited for; the names are those of Node's events. */
export interface StrayErrors {
  readonly unhandledRejection: (reason: unknown) => void;
  readonly uncaughtException: (error: unknown) => void;
}

/**
 * A rejected promise that nobody holds belongs to one request or to work in the background: it is a fault to be seen, and
 * no reason to end what other agents pay for. An exception that nobody caught leaves a state that nobody knows: the process
 * ends, and whoever supervises it starts it again over what is on the disk.
 *
 * @param alarm logs an event as an error, and counts it
 * @param end logs an event as the process's last line, and ends it
 */
export function strayErrors(alarm: (event: object) => void, end: (event: object) => void): StrayErrors {
  return {
    unhandledRejection: (reason) => alarm({ event: 'unhandled_rejection', err: asError(reason) }),
    uncaughtException: (error) => end({ event: 'uncaught_exception', err: asError(error) }),
  };
}

/** Anything can be thrown; only an Error is logged with its stack. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
}
