import type { Store, Table } from './store.ts';

/** A space of the models in use. */
export interface FilledSpace {
  readonly name: string;
  readonly modelSha256: string;
  /** For people: the model, its file of weights and what runs it. */
  readonly weights: string;
}

/** A model that living indexes may have, and that is not in use any more. */
export interface PreviousModel {
  readonly space: string;
  readonly weights: string;
  /** Milliseconds of the history's clock: no index has it from then on. */
  readonly until: number;
}

interface Period {
  /** Milliseconds of the history's clock; 0 where nothing came before. */
  readonly since: number;
  readonly spaces: readonly FilledSpace[];
}

export interface ModelHistoryOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly inUse: readonly FilledSpace[];
  /** For how long after a change of model an index may be extended. */
  readonly extendedMs: number;
  /** How long an index may live that cannot be extended beyond that, as it looks now. */
  readonly lifetimeMs: () => number;
}

const KEY = 'history';
const PERIODS_MAX = 16;

/** Which models were in use when: an index has those of its beginning, until it ends. */
export class ModelHistory {
  readonly #options: ModelHistoryOptions;
  readonly #table: Table<{ readonly periods: readonly Period[] }>;

  constructor(options: ModelHistoryOptions) {
    this.#options = options;
    this.#table = options.store.table('models');
  }

  /** Notes the models in use. To be called before anything is filled. @returns those that they replace */
  async start(): Promise<readonly FilledSpace[]> {
    const { inUse, now, store } = this.#options;
    const spaces = inUse.map(({ name, modelSha256, weights }) => ({ name, modelSha256, weights }));
    return store.transaction(() => {
      const before = this.#periods;
      const last = before.at(-1);
      const replaced = last?.spaces.filter((space) => !isAmong(space, spaces)) ?? [];
      if (last && replaced.length === 0 && spaces.length === last.spaces.length) return replaced;
      const kept = before.filter((_, at) => this.#until(before, at) > now()).slice(1 - PERIODS_MAX);
      const since = last ? now() : 0;
      void this.#table.put(KEY, { periods: [...kept, { since, spaces }] });
      return replaced;
    });
  }

  /** When an index that was begun then has to end, however often it is extended; undefined: never. */
  endsBy(begunAt: number): number | undefined {
    const periods = this.#periods;
    const at = Math.max(
      0,
      periods.findLastIndex(({ since }) => since <= begunAt),
    );
    const isInUse = (space: FilledSpace) => isAmong(space, this.#options.inUse);
    if (periods[at]?.spaces.every(isInUse) ?? true) return undefined;
    const replacedAt = periods[at + 1]?.since;
    return replacedAt === undefined ? undefined : replacedAt + this.#options.extendedMs;
  }

  /** Models that living indexes may need beside those in use. */
  previous(): PreviousModel[] {
    const { inUse, now } = this.#options;
    const periods = this.#periods;
    const found = new Map<string, PreviousModel>();
    for (const [at, { spaces }] of periods.entries()) {
      const until = this.#until(periods, at);
      if (until <= now() || until === Number.POSITIVE_INFINITY) continue;
      for (const { name, modelSha256, weights } of spaces.filter((space) => !isAmong(space, inUse)))
        found.set(`${name} ${modelSha256}`, { space: name, weights, until });
    }
    return [...found.values()];
  }

  /** For people: the weights that fill a space. Undefined if they are unknown by now. */
  weightsOf({ name, modelSha256 }: Pick<FilledSpace, 'name' | 'modelSha256'>): string | undefined {
    const known = [...this.#options.inUse, ...this.#periods.flatMap(({ spaces }) => spaces)];
    return known.find((space) => space.name === name && space.modelSha256 === modelSha256)?.weights;
  }

  get #periods(): readonly Period[] {
    return this.#table.get(KEY)?.periods ?? [];
  }

  /** When the last index of a period ends. */
  #until(periods: readonly Period[], at: number): number {
    const { extendedMs, lifetimeMs } = this.#options;
    const replacedAt = periods[at + 1]?.since;
    return replacedAt === undefined
      ? Number.POSITIVE_INFINITY
      : replacedAt + Math.max(extendedMs, lifetimeMs());
  }
}

function isAmong({ name, modelSha256 }: FilledSpace, spaces: readonly FilledSpace[]): boolean {
  return spaces.some((space) => space.name === name && space.modelSha256 === modelSha256);
}
