import { setTimeout as pause } from 'node:timers/promises';

/**
 * Who asks when. Closed: so many clients, each with one request at a time; a slow server slows its clients. Open: requests begin at
 * set moments, answered or not, and their time counts from the moment they were meant to begin (no coordinated omission).
 */
export type Loop = { readonly clients: number } | { readonly perSecond: number };

/** Sends one request. @param due when it was meant to begin, by `performance.now()` */
export type Send = (due: number) => Promise<void>;

/** Runs until the time is over, or `send` has nothing more (it says so by `stop`). @returns the seconds that it took. */
export async function runLoop(loop: Loop, seconds: number, send: Send, stop: AbortSignal): Promise<number> {
  const began = performance.now();
  if ('clients' in loop) await closedLoop(loop.clients, began + seconds * 1000, send, stop);
  else await openLoop(loop.perSecond, seconds, send, stop);
  return (performance.now() - began) / 1000;
}

async function closedLoop(clients: number, until: number, send: Send, stop: AbortSignal): Promise<void> {
  const client = async () => {
    while (performance.now() < until && !stop.aborted) await send(performance.now());
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function openLoop(perSecond: number, seconds: number, send: Send, stop: AbortSignal): Promise<void> {
  const began = performance.now();
  const running = new Set<Promise<void>>();
  const total = Math.max(1, Math.round(perSecond * seconds));
  for (let sent = 0; sent < total && !stop.aborted; sent += 1) {
    const due = began + (sent * 1000) / perSecond;
    await untilMoment(due);
    const one: Promise<void> = send(due).finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
}

/** A timer may be a millisecond late, which counts as waiting; turning until the moment would take a processor from the server. */
async function untilMoment(moment: number): Promise<void> {
  const milliseconds = moment - performance.now();
  if (milliseconds > 0) await pause(milliseconds);
}
