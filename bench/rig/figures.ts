import type { Cell } from './csv.ts';

/** One figure of a run; `low` and `high` tell how repetitions within the run differ. */
export interface Figure {
  readonly value: number;
  readonly unit?: string;
  readonly low?: number;
  readonly high?: number;
  /** Who did the same in the same run, and its figure. */
  readonly peer?: string;
  readonly peer_value?: number;
}

/** Results of a bench: numbers by name, in folders, and figures where a number does not say all. Texts are not recorded. */
export type Facts = object;

export interface RecordedFigure {
  readonly metric: string;
  readonly value: Cell;
  readonly unit: string;
  readonly low: Cell;
  readonly high: Cell;
  readonly peer: string;
  readonly peer_value: Cell;
}

const UNITS: Readonly<Record<string, string>> = {
  ms: 'ms',
  us: 'µs',
  s: 's',
  mib: 'MiB',
  percent: '%',
  per_second: '/s',
};

/** By the ending of the last part of the name that has one. */
function unitOf(parts: readonly string[]): string {
  for (const part of parts.toReversed()) {
    const found = /(?:^|_)(per_second|ms|us|s|mib|percent)$/.exec(part)?.[1];
    if (found) return UNITS[found]!;
  }
  return '';
}

/** Properties that tell the members of a list apart. */
const NAMES = ['name', 'engine', 'set', 'scenario', 'kind', 'view', 'list', 'rows', 'k'];

function nameOf(member: object, at: number): string {
  const named = NAMES.flatMap((name) => {
    const value = (member as Record<string, unknown>)[name];
    return typeof value === 'string' || typeof value === 'number'
      ? [`${typeof value === 'number' ? `${name} ` : ''}${value}`]
      : [];
  });
  return named.length > 0 ? named.join(', ') : String(at + 1);
}

const isFigure = (found: object): found is Figure => typeof (found as Figure).value === 'number';

/** All numbers of a run; a list of numbers counts as its median, with the least and the greatest. */
export function figuresOf(facts: Facts): RecordedFigure[] {
  const figures: RecordedFigure[] = [];
  const keep = (parts: readonly string[], { value, unit, low, high, peer, peer_value }: Figure) =>
    figures.push({
      metric: parts.join('/'),
      value: rounded(value),
      unit: unit ?? unitOf(parts),
      low: low === undefined ? '' : rounded(low),
      high: high === undefined ? '' : rounded(high),
      peer: peer ?? '',
      peer_value: peer_value === undefined ? '' : rounded(peer_value),
    });
  const walk = (found: unknown, parts: readonly string[]): void => {
    if (typeof found === 'number') {
      if (Number.isFinite(found)) keep(parts, { value: found });
    } else if (Array.isArray(found)) {
      if (found.length > 0 && found.every((one) => typeof one === 'number')) keep(parts, spreadOf(found));
      else for (const [at, member] of found.entries()) walk(member, [...parts, nameOf(member, at)]);
    } else if (typeof found === 'object' && found !== null) {
      if (isFigure(found)) keep(parts, found);
      else
        for (const [name, inside] of Object.entries(found))
          if (!isNameIn(found, name)) walk(inside, [...parts, name]);
    }
  };
  walk(facts, []);
  return figures;
}

/** A list's members are named by some of their numbers, which are no figures. */
const isNameIn = (found: object, name: string) =>
  NAMES.includes(name) && typeof (found as Record<string, unknown>)[name] !== 'object';

export function spreadOf(values: readonly number[]): Figure {
  return { value: median(values), low: Math.min(...values), high: Math.max(...values) };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Five digits: more are noise. */
const rounded = (value: number) => Number(value.toPrecision(5));

/** A line of the terminal. */
export function shownFigure({ metric, value, unit, low, high, peer, peer_value }: RecordedFigure): string {
  const spread = low === '' ? '' : ` (${low} to ${high})`;
  const beside = peer === '' ? '' : `; ${peer} ${peer_value}`;
  return `${metric.padEnd(64)} ${value} ${unit}${spread}${beside}`;
}
