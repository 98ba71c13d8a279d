import type { Clock } from '../../../src/protocol/clock.ts';

/** A wall clock and a monotonic source that a test moves. */
export class SimulatedClock implements Clock {
  wall = Date.UTC(2026, 10, 21, 9);
  steady = 5_000;

  now(): number {
    return this.wall;
  }

  readonly monotonic = (): number => this.steady;

  /** Time passes. */
  advance(milliseconds: number): void {
    this.wall += milliseconds;
    this.steady += milliseconds;
  }

  /** Somebody sets the wall clock. */
  jump(milliseconds: number): void {
    this.wall += milliseconds;
  }

  /** The process is down; the next one's monotonic source has another origin. */
  down(milliseconds: number): void {
    this.wall += milliseconds;
    this.steady = (this.steady * 7 + 13) % 1_000_003;
  }
}
