import { payingClient } from '../rig/agent.ts';
import { Connections } from '../rig/connections.ts';
import { runLoop } from '../rig/loops.ts';

/** A process of its own: workspaces come and go while they are filled and searched at an even pace, answered or not. */

export interface SoakOrder {
  readonly url: string;
  readonly seconds: number;
  /** Number of workspaces at a time. */
  readonly workspaces: number;
  readonly searchesPerSecond: number;
  readonly uploadsPerSecond: number;
}

export interface SoakResult {
  readonly searchMs: readonly number[];
  readonly uploadMs: readonly number[];
  /** Answers by what was asked and status; 0: the connection ended without one. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly rented: number;
  readonly disposed: number;
}

interface Rented {
  readonly path: string;
  readonly headers: Record<string, string>;
}

/** A workspace is replaced after so many uploads into it, on average. */
const UPLOADS_EACH = 6;
const CONNECTIONS_MAX = 256;
const SENTENCES = [
  'The lighthouse keeper counts gulls at dawn and writes the tide into the log.',
  'Harbour pilots guide large vessels through the narrow channel at high water.',
  'Salt marshes protect the coast from storms and shelter young fish.',
  'A barometer that falls fast announces wind before the clouds do.',
  'Nets are mended in winter, when the boats lie ashore.',
];
const QUERIES = ['who watches birds in the morning?', 'what announces wind?', 'when are nets mended?'];

class Traffic {
  readonly #order: SoakOrder;
  readonly #connections: Connections;
  readonly #rented: Rented[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #counts = { rented: 0, disposed: 0, uploads: 0, searches: 0 };

  constructor(order: SoakOrder) {
    this.#order = order;
    this.#connections = new Connections(order.url, CONNECTIONS_MAX);
  }

  async run(): Promise<SoakResult> {
    const { seconds, workspaces, searchesPerSecond, uploadsPerSecond } = this.#order;
    while (this.#rented.length < workspaces) await this.#rent();
    const [searchMs, uploadMs]: [number[], number[]] = [[], []];
    const never = new AbortController().signal;
    const timed = (times: number[], one: () => Promise<void>) => async (due: number) => {
      await one();
      times.push(performance.now() - due);
    };
    await Promise.all([
      runLoop(
        { perSecond: searchesPerSecond },
        seconds,
        timed(searchMs, () => this.#search()),
        never,
      ),
      runLoop(
        { perSecond: uploadsPerSecond },
        seconds,
        timed(uploadMs, () => this.#upload()),
        never,
      ),
      runLoop({ perSecond: uploadsPerSecond / UPLOADS_EACH }, seconds, () => this.#replaceOldest(), never),
    ]);
    this.#connections.close();
    const { rented, disposed } = this.#counts;
    return { searchMs, uploadMs, statuses: this.#statuses, rented, disposed };
  }

  async #rent(): Promise<void> {
    const { id, token } = await payingClient(this.#order.url).workspaces.create({ ttlMinutes: 60 });
    this.#counts.rented += 1;
    this.#rented.push({ path: `/agent/v1/workspaces/${id}`, headers: { Authorization: `Bearer ${token}` } });
  }

  async #replaceOldest(): Promise<void> {
    await this.#rent();
    const { path, headers } = this.#rented.shift()!;
    await this.#send('dispose', 'DELETE', path, headers, '');
    this.#counts.disposed += 1;
  }

  async #search(): Promise<void> {
    const number = this.#counts.searches++;
    const { path, headers } = this.#rented[number % this.#rented.length]!;
    const body = JSON.stringify({ query: QUERIES[number % QUERIES.length] });
    await this.#send('search', 'POST', `${path}/search`, headers, body);
  }

  /** No two are the same bytes. */
  async #upload(): Promise<void> {
    const number = this.#counts.uploads++;
    const { path, headers } = this.#rented[number % this.#rented.length]!;
    const body = `# Log ${number}\n\n${[0, 1, 2, 3].map((at) => SENTENCES[(number + at) % SENTENCES.length]).join(' ')}\n`;
    const named = {
      ...headers,
      Prefer: 'wait=60',
      'Content-Disposition': `attachment; filename="${number}.md"`,
    };
    await this.#send('upload', 'POST', `${path}/ingest`, named, body);
  }

  async #send(
    what: string,
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<void> {
    const status = await this.#connections
      .send(method, path, headers, body)
      .then((answer) => answer.status)
      .catch(() => 0);
    const key = `${what} ${status}`;
    this.#statuses[key] = (this.#statuses[key] ?? 0) + 1;
  }
}

process.once('message', async (order: SoakOrder) => {
  const result = await new Traffic(order).run();
  process.send!(result, () => process.exit(0));
});
process.once('disconnect', () => process.exit(1));
