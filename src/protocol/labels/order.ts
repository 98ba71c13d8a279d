import { FarthingError } from '../error.ts';
import { isTime } from './filter.ts';
import { METADATA_NAME_MAX } from './metadata.ts';

/** What less weight a hit has the farther its value is from another. */
export interface Decay {
  /** Distance over which the weight halves: in days for times, else in the field's own unit. */
  readonly half_life: number;
  /** Where the weight is 1: a number or a time. Absent: now; among numbers the greatest. */
  readonly from?: number | string;
}

/** The order of hits by a value of their items. */
export interface Order {
  /** `created_at`, or `metadata.` and a field. */
  readonly by: string;
  /** Default: descending, the newest or greatest first. Without `decay`. */
  readonly direction?: 'descending' | 'ascending';
  readonly decay?: Decay;
}

export const DIRECTIONS = ['descending', 'ascending'] as const;
const MEMBERS: readonly string[] = ['by', 'direction', 'decay'];
const OF_METADATA = 'metadata.';
/** What a range of `half_life` cannot reach is no distance. */
const HALF_LIFE_MAX = 1e15;
const DAY_MS = 86_400_000;

/** An order as the index takes it, as JSON: the same order always gives the same text. @throws field_invalid */
export function readOrder(value: unknown): string {
  const { by, direction, decay } = membersOf(value, MEMBERS, 'order');
  const field = fieldOf(by);
  if (direction !== undefined && !DIRECTIONS.includes(direction as (typeof DIRECTIONS)[number]))
    throw invalid('order.direction', `send ${DIRECTIONS.map((each) => `"${each}"`).join(' or ')}`);
  if (decay !== undefined && direction !== undefined)
    throw invalid('order', 'with decay the nearest come first: leave out direction');
  return JSON.stringify({
    ...(field !== undefined && { field }),
    ...(direction === 'ascending' && { ascending: true }),
    ...(decay !== undefined && { decay: decayOf(decay, field) }),
  });
}

/** The field of the metadata; undefined for the time at which an item was added. */
export function fieldOf(by: unknown): string | undefined {
  if (by === 'created_at') return undefined;
  const field = typeof by === 'string' && by.startsWith(OF_METADATA) ? by.slice(OF_METADATA.length) : '';
  if (field !== '' && field.length <= METADATA_NAME_MAX) return field;
  throw invalid('order.by', 'send "created_at", or a field of your metadata such as "metadata.year"');
}

function decayOf(value: unknown, field: string | undefined) {
  const { half_life, from } = membersOf(value, ['half_life', 'from'], 'order.decay');
  if (typeof half_life !== 'number' || !(half_life > 0 && half_life <= HALF_LIFE_MAX))
    throw invalid('order.decay.half_life', 'send a number above 0: days for times, else in the field’s unit');
  if (from === undefined) return { half_life };
  if (typeof from === 'number' && Number.isFinite(from) && field !== undefined)
    return { half_life, from: { number: from } };
  if (isTime(from)) return { half_life, from: { days: Date.parse(from) / DAY_MS } };
  const number = field === undefined ? '' : 'a number, or ';
  throw invalid('order.decay.from', `send ${number}a time such as 2026-11-26T09:00:00Z, or a date`);
}

function membersOf(value: unknown, known: readonly string[], at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(at, `send an object of ${known.join(', ')}`);
  const given = Object.entries(value).filter(([, each]) => each !== null);
  const unknown = given.find(([name]) => !known.includes(name));
  if (unknown) {
    const name = unknown[0].slice(0, METADATA_NAME_MAX);
    throw invalid(at, `there is no "${name}". It takes ${known.join(', ')}`);
  }
  return Object.fromEntries(given);
}

function invalid(at: string, what: string): FarthingError {
  return new FarthingError('field_invalid', `${at}: ${what}.`, { facts: { field: 'order' } });
}
