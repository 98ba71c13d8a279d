import { privateKeyToAccount } from 'viem/accounts';
import { Connections } from './connections.ts';
import { runLoop, type Took } from './loops.ts';
import type { Driven, DriverMessage, LoadRequest, Order } from './order.ts';
import { BenchPayer } from './payer.ts';

/** A process of its own that makes load as ordered, so that neither the server nor whoever measures slows it down. */

const CONNECTIONS_MAX = 2048;
/** Requests a second that a warm-up has payments for. */
const WARM_UP_RATE = 200;
/** Payments for so much more than the warm-up's rate are signed for the measured part. */
const MARGIN = 1.6;

type Sent = { due: number; sent: number; ended: number; status: number };

class Driver {
  readonly #order: Order;
  readonly #connections: Connections;
  #next = 0;
  #payments: Record<string, string>[] = [];

  constructor(order: Order) {
    this.#order = order;
    this.#connections = new Connections(order.url, CONNECTIONS_MAX);
  }

  async run(): Promise<Driven> {
    const { loop, warmUpSeconds, seconds } = this.#order;
    // An open loop's payments can be counted beforehand; a closed one's are as many as the warm-up foretells.
    let rate = 'perSecond' in loop ? loop.perSecond : WARM_UP_RATE;
    if (warmUpSeconds > 0) {
      await this.#sign(rate * warmUpSeconds + 1);
      const warm = await this.#send(warmUpSeconds);
      if (!('perSecond' in loop)) rate = Math.max(1, warm.sent.length / warm.seconds) * MARGIN;
    }
    await this.#sign(rate * seconds + 1);
    process.send!({ event: 'measuring' } satisfies DriverMessage);
    const measured = await this.#send(seconds);
    this.#connections.close();
    return figuresOf(measured);
  }

  async #sign(count: number): Promise<void> {
    const { payer, requests, once } = this.#order;
    if (!payer) return;
    const wallet = new BenchPayer(privateKeyToAccount(payer.privateKey));
    const wanted = Math.ceil(once ? Math.min(count, requests.length) : count);
    while (this.#payments.length < wanted) this.#payments.push(await wallet.headers(payer.offer));
  }

  async #send(seconds: number): Promise<Took & { sent: Sent[] }> {
    const over = new AbortController();
    const sent: Sent[] = [];
    const took = await runLoop(
      this.#order.loop,
      seconds,
      async (due) => {
        const request = this.#take();
        if (!request) return over.abort();
        sent.push(await this.#one(due, request));
      },
      over.signal,
    );
    return { ...took, sent };
  }

  /** The next request with its payment; undefined when there is none left. */
  #take(): LoadRequest | undefined {
    const { requests, once, payer } = this.#order;
    if (once && this.#next >= requests.length) return undefined;
    const payment = payer ? this.#payments.pop() : {};
    if (!payment) return undefined;
    const { body, headers } = requests[this.#next++ % requests.length]!;
    return { body, headers: { ...headers, ...payment } };
  }

  async #one(due: number, { body, headers }: LoadRequest): Promise<Sent> {
    const sent = performance.now();
    const all = { ...this.#order.headers, ...headers };
    const status = await this.#connections
      .send('POST', this.#order.path, all, body)
      .then((answer) => answer.status)
      .catch(() => 0);
    return { due, sent, ended: performance.now(), status };
  }
}

function figuresOf({ seconds, sentUntil, sent }: Took & { readonly sent: readonly Sent[] }): Driven {
  const statuses: Record<string, number> = {};
  for (const { status } of sent) statuses[status] = (statuses[status] ?? 0) + 1;
  const times = (of: readonly Sent[]) => of.map(({ due, ended }) => ended - due);
  const isAnswer = ({ status }: Sent) => status >= 200 && status < 300;
  const answers = sent.filter(isAnswer);
  const inTime = answers.filter(({ ended }) => ended <= sentUntil).length;
  const began = Math.min(...sent.map(({ due }) => due));
  return {
    seconds,
    answeredPerSecond: sent.length > 0 ? (1000 * inTime) / (sentUntil - began) : 0,
    answeredMs: times(answers),
    refusedMs: times(sent.filter((one) => !isAnswer(one))),
    statuses,
    sentLateMs: sent.map((one) => one.sent - one.due),
  };
}

process.once('message', async (order: Order) => {
  const driven = await new Driver(order).run();
  process.send!({ event: 'driven', driven } satisfies DriverMessage, () => process.exit(0));
});
process.once('disconnect', () => process.exit(1));
