import { Gauge, type Registry } from 'prom-client';

/** Most probes in the running recall of a list. */
const PROBES_MAX = 200;

/** Running recall of each list: the share of the proved best hits that its last probes found; NaN before its first probe. */
export class RunningRecall {
  readonly #last = new Map<string, { expected: number; found: number }[]>();
  readonly #gauge: Gauge<'list'>;

  /** @param lists shown from the start */
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
    const sum = (figure: 'expected' | 'found') => last.reduce((total, probe) => total + probe[figure], 0);
    this.#gauge.set({ list }, sum('found') / sum('expected'));
  }
}
