const SECOND_MS = 1000;
const PRECISE_BELOW_MS = 10;

/** A duration as a person reads it: `3.2 ms`, `45 ms`, `1.4 s`. */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds >= SECOND_MS) return `${(milliseconds / SECOND_MS).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < PRECISE_BELOW_MS ? 1 : 0)} ms`;
}
