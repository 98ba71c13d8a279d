/** Wall-clock time in milliseconds since the epoch. Tests replace it with a simulated one. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Milliseconds to the microsecond, as they are shown: more digits are noise. */
export function roundedMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** The same of each stage; one that did not run is left out. */
export function roundedStages<Stage extends string>(
  stages: Readonly<Partial<Record<Stage, number | undefined>>>,
): Partial<Record<Stage, number>> {
  const ran: Partial<Record<Stage, number>> = {};
  for (const stage in stages) {
    const ms = stages[stage];
    if (ms !== undefined) ran[stage] = roundedMs(ms);
  }
  return ran;
}

/** RFC 3339 in UTC, to the millisecond. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The time by two clocks, in milliseconds. Each counts from its own start. */
export interface Moment {
  /** Pauses while the machine is suspended. */
  readonly monotonic: number;
  /** Time of day, which may be set. */
  readonly wall: number;
}

export function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** Milliseconds by the clock that says more. */
export function msBetween(from: Moment, to: Moment): number {
  return Math.max(to.monotonic - from.monotonic, to.wall - from.wall);
}
