/** Source of wall-clock time in milliseconds since the epoch; tests put a simulated one in its place. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC, to the millisecond. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
