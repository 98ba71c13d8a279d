import { setTimeout as pause } from 'node:timers/promises';

/**
 * Who asks when. Closed: so many clients, each with one request at a time; a slow server slows its clients. Open: requests begin at
 * set moments, answered or not, and their time counts from the moment they were meant to begin (no coordinated omission).
 */
export type Loop = { readonly clients: number } | { readonly perSecond: number };

/** Sends one request. @param due when it was meant to begin, by `performance.now()` */
export type Send = (due: number) => Promise<void>;

export interface Took {
  /** From the first request to the last answer, in seconds. */
  readonly seconds: number;
  /** Until when requests were sent, by `performance.now()`: answers behind that say nothing of the rate. */
  readonly sentUntil: number;
}

/** Runs until the time is over, or `send` has nothing more (it says so by `stop`). */
export async function runLoop(loop: Loop, seconds: number, send: Send, stop: AbortSignal): Promise<Took> {
  const began = performance.now();
  const sentUntil =
    'clients' in loop
      ? await closedLoop(loop.clients, began + seconds * 1000, send, stop)
      : await openLoop(loop.perSecond, seconds, send, stop);
  return { seconds: (performance.now() - began) / 1000, sentUntil };
}

async function closedLoop(clients: number, until: number, send: Send, stop: AbortSignal): Promise<number> {
  const client = async () => {
    while (performance.now() < until && !stop.aborted) await send(performance.now());
  };
  await Promise.all(Array.from({ length: clients }, client));
  return performance.now();
}

async function openLoop(perSecond: number, seconds: number, send: Send, stop: AbortSignal): Promise<number> {
  const began = performance.now();
  const running = new Set<Promise<void>>();
  const total = Math.max(1, Math.round(perSecond * seconds));
  for (let sent = 0; sent < total && !stop.aborted; sent += 1) {
    const due = began + (sent * 1000) / perSecond;
    await untilMoment(due);
    const one: Promise<void> = send(due).finally(() => running.delete(one));
    running.add(one);
  }
  const sentUntil = performance.now();
  await Promise.all(running);
  return sentUntil;
}

/** A timer may be a millisecond late, which counts as waiting; turning until the moment would take a processor from the server. */
async function untilMoment(moment: number): Promise<void> {
  const milliseconds = moment - performance.now();
  if (milliseconds > 0) await pause(milliseconds);
}
