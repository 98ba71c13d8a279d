import { Gauge, type Registry } from 'prom-client';

/** Most probes in the running recall of a list. */
const PROBES_MAX = 200;

/** How a list was searched. */
interface Searched {
  readonly list: string;
  readonly method: string;
}

/** Running recall of each list, by method: the share of the proved best hits that its last probes found; NaN before its first probe. */
export class RunningRecall {
  readonly #last = new Map<string, { expected: number; found: number }[]>();
  readonly #gauge: Gauge<keyof Searched>;

  /** @param searched shown from the start */
  constructor(registry: Registry, searched: readonly Searched[]) {
    this.#gauge = new Gauge({
      name: 'farthing_recall',
      help: `Share of the proved best k that searches found, over the last ${PROBES_MAX} probes.`,
      labelNames: ['list', 'method'],
      registers: [registry],
    });
    for (const labels of searched) this.#gauge.set({ ...labels }, Number.NaN);
  }

  add({ list, method }: Searched, expected: number, found: number): void {
    const of = `${list} ${method}`;
    const last = this.#last.get(of) ?? [];
    this.#last.set(of, last);
    last.push({ expected, found });
    if (last.length > PROBES_MAX) last.shift();
    const sum = (figure: 'expected' | 'found') => last.reduce((total, probe) => total + probe[figure], 0);
    this.#gauge.set({ list, method }, sum('found') / sum('expected'));
  }
}
