import { Gauge, type Registry } from 'prom-client';

/** Probes that the running recall of a list is the mean of. */
const PROBES_MAX = 200;

/** Share of the proved best that the last probes of each list found; no number for a list that was never probed. */
export class RunningRecall {
  readonly #last = new Map<string, { expected: number; found: number }[]>();
  readonly #gauge: Gauge<'list'>;

  /** @param lists those that are shown before their first probe */
  constructor(registry: Registry, lists: readonly string[]) {
    this.#gauge = new Gauge({
      name: 'farthing_recall',
      help: `Share of the proved best k that searches found, over the last ${PROBES_MAX} probes.`,
      labelNames: ['list'],
      registers: [registry],
    });
    for (const list of lists) this.#gauge.set({ list }, Number.NaN);
  }

  add(list: string, expected: number, found: number): void {
    const last = this.#last.get(list) ?? [];
    this.#last.set(list, last);
    last.push({ expected, found });
    if (last.length > PROBES_MAX) last.shift();
    const sum = (of: 'expected' | 'found') => last.reduce((total, probe) => total + probe[of], 0);
    this.#gauge.set({ list }, sum('found') / sum('expected'));
  }
}
