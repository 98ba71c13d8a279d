/** Handlers of errors that no code awaits, by the names of Node's events. */
export interface StrayErrors {
  readonly unhandledRejection: (reason: unknown) => void;
  readonly uncaughtException: (error: unknown) => void;
}

/**
 * An unhandled rejection belongs to one request or background task: it is reported, and the other requests continue.
 * An uncaught exception leaves an unknown state: the process ends, and its supervisor restarts it over the data folder.
 *
 * @param alarm logs an event as an error and counts it
 * @param end logs an event as the last line and ends the process
 */
export function strayErrors(alarm: (event: object) => void, end: (event: object) => void): StrayErrors {
  return {
    unhandledRejection: (reason) => alarm({ event: 'unhandled_rejection', err: asError(reason) }),
    uncaughtException: (error) => end({ event: 'uncaught_exception', err: asError(error) }),
  };
}

/** Any value can be thrown; only an Error is logged with its stack. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
}
