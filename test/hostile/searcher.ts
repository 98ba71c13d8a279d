import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** A thread of its own, so that whoever makes bombs doesn't hold it up: searches at a steady rate until it is told to end. */
export interface SearchOrder {
  readonly url: string;
  readonly tokens: readonly { readonly id: string; readonly token: string }[];
  readonly perSecond: number;
}

const QUERIES = ['who watches birds?', 'how deep is the harbour?', 'when does the tide turn?', 'a red boat'];

const { url, tokens, perSecond } = workerData as SearchOrder;
let times: number[] = [];
let over = false;
parentPort!.on('message', (message: 'report' | 'over') => {
  parentPort!.postMessage(times);
  times = [];
  over ||= message === 'over';
});

async function ask(index: number): Promise<void> {
  const { id, token } = tokens[index % tokens.length]!;
  const began = performance.now();
  const answer = await fetch(`${url}/agent/v1/workspaces/${id}/search`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: QUERIES[index % QUERIES.length] }),
  });
  await answer.arrayBuffer();
  if (answer.status === 200) times.push(performance.now() - began);
}

const running = new Set<Promise<void>>();
const began = performance.now();
for (let index = 0; !over; index++) {
  await pause(Math.max(0, began + (index * 1000) / perSecond - performance.now()));
  const one = ask(index).catch(() => undefined);
  running.add(one);
  void one.finally(() => running.delete(one));
}
await Promise.all(running);
