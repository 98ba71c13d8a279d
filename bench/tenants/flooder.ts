import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** A thread of its own, so that the one which measures is not held up: asks so often a second until it gets a message. */

export interface FloodOrder {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly bodies: readonly string[];
  readonly perSecond: number;
}

const TICK_MS = 5;
/** Requests that may be open at once; more than that are not sent, and not made up for. */
const OPEN_MAX = 256;

const { url, headers, bodies, perSecond } = workerData as FloodOrder;
const agent = new Agent({ keepAlive: true, maxSockets: OPEN_MAX });
const answers = new Map<number, number>();
let open = 0;
let over = false;
parentPort!.once('message', () => {
  over = true;
});

function ask(body: string): void {
  open += 1;
  const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
    answers.set(answer.statusCode!, (answers.get(answer.statusCode!) ?? 0) + 1);
    answer.resume();
    answer.once('close', () => {
      open -= 1;
    });
  });
  asked.once('error', () => {
    open -= 1;
  });
  asked.end(body);
}

const began = performance.now();
for (let sent = 0; !over; ) {
  const due = Math.floor(((performance.now() - began) * perSecond) / 1000);
  for (let left = Math.min(due - sent, OPEN_MAX - open); left > 0; left -= 1)
    ask(bodies[left % bodies.length]!);
  sent = due;
  await pause(TICK_MS);
}
const seconds = (performance.now() - began) / 1000;
while (open > 0) await pause(TICK_MS);
agent.destroy();
parentPort!.postMessage({ answers, seconds });
