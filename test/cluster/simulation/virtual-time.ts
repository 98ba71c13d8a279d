import { setImmediate as turn } from 'node:timers/promises';
import type { Moment } from '../../../src/protocol/clock.ts';

/** Numbers that follow from a seed (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0 and below 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.roll() * (high - low);
  }

  happens(probability: number): boolean {
    return this.roll() < probability;
  }

  oneOf<T>(all: readonly T[]): T {
    return all[Math.floor(this.roll() * all.length)]!;
  }
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly process: VirtualProcess | undefined;
  readonly work: () => void;
}

/** Time in which what is to happen happens one after the other, whatever the machine does: milliseconds from 0. */
export class VirtualTime {
  now = 0;
  readonly #dice: Dice;
  /** A binary heap, the next one first. */
  readonly #events: Event[] = [];
  #count = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** @param process does it: not while it is paused, and never once it has ended */
  in(milliseconds: number, work: () => void, process?: VirtualProcess): void {
    this.#push({ at: this.now + milliseconds, order: this.#count++, process, work });
  }

  /** Lets everything happen that is due until then. @param isOver ends it early */
  async runUntil(end: number, isOver: () => boolean): Promise<void> {
    for (let next = this.#events[0]; next && next.at <= end && !isOver(); next = this.#events[0]) {
      this.#pop();
      this.now = Math.max(this.now, next.at);
      const { process, work } = next;
      if (process?.hasEnded) continue;
      if (process && process.standsUntil > this.now) {
        // Work that has become due in the meantime is done in no promised order.
        this.#push({ ...next, at: process.standsUntil + this.#dice.between(0, 5), order: this.#count++ });
        continue;
      }
      work();
      // All that follows without waiting.
      await turn();
    }
    this.now = end;
  }

  #push(event: Event): void {
    const events = this.#events;
    let place = events.push(event) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (isBefore(events[above]!, event)) break;
      events[place] = events[above]!;
      place = above;
    }
    events[place] = event;
  }

  #pop(): void {
    const events = this.#events;
    const last = events.pop()!;
    if (events.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= events.length) break;
      if (below + 1 < events.length && isBefore(events[below + 1]!, events[below]!)) below += 1;
      if (isBefore(last, events[below]!)) break;
      events[place] = events[below]!;
      place = below;
    }
    events[place] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** One process of a machine: it may stand still, and its clocks run at a speed of their own. */
export class VirtualProcess {
  hasEnded = false;
  standsUntil = 0;
  readonly #time: VirtualTime;
  readonly #speed: number;
  readonly #origins: Moment;
  /** Milliseconds in which the whole machine stood still: the monotonic clock did, too. */
  #suspendedMs = 0;

  constructor(time: VirtualTime, speed: number, origins: Moment) {
    this.#time = time;
    this.#speed = speed;
    this.#origins = origins;
  }

  readonly moment = (): Moment => ({
    monotonic: this.#origins.monotonic + (this.#time.now - this.#suspendedMs) * this.#speed,
    wall: this.#origins.wall + this.#time.now * this.#speed,
  });

  readonly pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => this.in(milliseconds, resolve));

  readonly every = (milliseconds: number, work: () => void): (() => void) => {
    let isOver = false;
    const next = () =>
      this.in(milliseconds, () => {
        if (isOver) return;
        work();
        next();
      });
    next();
    return () => {
      isOver = true;
    };
  };

  /** @param milliseconds by its own clock */
  in(milliseconds: number, work: () => void): void {
    this.#time.in(milliseconds / this.#speed, work, this);
  }

  /** @param withMachine its monotonic clock is paused, too */
  standStill(milliseconds: number, withMachine: boolean): void {
    this.standsUntil = Math.max(this.standsUntil, this.#time.now + milliseconds);
    if (withMachine) this.#suspendedMs += milliseconds;
  }
}
