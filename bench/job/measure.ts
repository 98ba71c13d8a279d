import { loadavg } from 'node:os';
import { drive, type Run } from '../rig/drive.ts';
import { median } from '../rig/figures.ts';
import type { Loop } from '../rig/loops.ts';
import type { LoadRequest } from '../rig/order.ts';
import { type BeirDocument, type BeirSet, firstDocuments, markdownOf } from '../sets/beir.ts';
import type { Contender, Contest, Who } from './contenders.ts';
import type { Plan, Scenario } from './scenarios.ts';

/** All runs of one scenario with one server; the figures that are quoted are medians over them. */
export interface Measured {
  readonly scenario: string;
  readonly title: string;
  readonly who: Who;
  readonly loop: Loop;
  readonly runs: readonly Run[];
}

const uploadOf = (document: BeirDocument): LoadRequest => ({
  body: markdownOf(document),
  headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(document.id)}.md` },
});

/** Carries out a plan: what is compared runs in turns, so that both have the machine in the same state. */
export class Measurement {
  readonly #contest: Contest;
  readonly #queries: readonly LoadRequest[];
  /** Documents that each contender has not been sent: the index first, then what is uploaded beside searches. */
  readonly #uploads: LoadRequest[];
  readonly #besides: LoadRequest[];
  readonly #capacities = new Map<Who, number>();
  readonly #part: number;
  #besidesUsed = 0;

  constructor(contest: Contest, plan: Plan, set: BeirSet) {
    this.#contest = contest;
    // The same question of one payer waits for the answer to the former one: no two are the same within a run.
    this.#queries = [10, 11, 12, 13].flatMap((k) =>
      set.queries.map(({ text }) => ({ body: JSON.stringify({ query: text, k }) })),
    );
    const chosen = firstDocuments(set, plan.documents + plan.besides).map(uploadOf);
    this.#uploads = chosen.slice(0, plan.documents);
    this.#besides = chosen.slice(plan.documents);
    const withUploads = plan.scenarios.filter(({ ingestClients }) => ingestClients).map(({ runs }) => runs);
    this.#part = Math.floor(this.#besides.length / Math.max(1, ...withUploads));
  }

  async scenario(scenario: Scenario): Promise<Measured[]> {
    this.#contest.verifyTakes(scenario.verifyMs ?? 0);
    const contenders = this.#contest.contenders.filter(({ who }) => scenario.who.includes(who));
    const all = contenders.map((contender) => ({ contender, runs: [] as Run[] }));
    for (let run = 0; run < scenario.runs; run += 1) {
      for (const { contender, runs } of all) runs.push(await this.#run(scenario, contender, run));
      if (scenario.ingestClients) this.#besidesUsed += 1;
    }
    return all.map(({ contender: { who }, runs }) => {
      this.#keepCapacity(scenario, who, runs);
      const { name, title } = scenario;
      return { scenario: name, title, who, loop: this.#loopOf(scenario, who), runs };
    });
  }

  #keepCapacity({ what, loop }: Scenario, who: Who, runs: readonly Run[]): void {
    if (what !== 'search' || !('clients' in loop)) return;
    const reached = median(runs.map(({ per_second }) => per_second));
    this.#capacities.set(who, Math.max(this.#capacities.get(who) ?? 0, reached));
  }

  #loopOf({ loop }: Scenario, who: Who): Loop {
    if (!('shareOfCapacity' in loop)) return loop;
    return { perSecond: Math.max(1, Math.round(loop.shareOfCapacity * this.#capacities.get(who)!)) };
  }

  async #run(scenario: Scenario, contender: Contender, run: number): Promise<Run> {
    const { seconds, warmUpSeconds, what, runs, ingestClients } = scenario;
    const load = () => loadavg().map((value) => Number(value.toFixed(2)));
    if (what === 'ingest') {
      const size = Math.ceil(this.#uploads.length / runs);
      const part = this.#uploads.slice(run * size, (run + 1) * size);
      const loop = this.#loopOf(scenario, contender.who);
      const order = await contender.order('ingest', part, { loop, seconds, warmUpSeconds, once: true });
      return drive(order, contender.server.pid, load);
    }
    const over = ingestClients ? this.#uploading(contender, ingestClients) : undefined;
    const order = await contender.order('search', this.#queries, {
      loop: this.#loopOf(scenario, contender.who),
      seconds,
      warmUpSeconds,
    });
    const measured = await drive(order, contender.server.pid, load);
    await over;
    return measured;
  }

  /** Uploads that last as long as the searches beside them; what is left over is uploaded by nobody. */
  async #uploading(contender: Contender, clients: number): Promise<void> {
    const from = this.#besidesUsed * this.#part;
    const part = this.#besides.slice(from, from + this.#part);
    const rest = { loop: { clients }, seconds: 3600, warmUpSeconds: 0, once: true };
    const order = await contender.order('ingest', part, rest);
    await drive(order, contender.server.pid, () => []);
  }
}
