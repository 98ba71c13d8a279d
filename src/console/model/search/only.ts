import type { Filter, Order } from '@farthing/client';
import { scalarOf } from '@farthing/protocol/labels/metadata';
import type { Kind, Only, OrderName } from '../state/asked.ts';

const MEDIA = ['image/*', 'video/*', 'audio/*'];
const MEDIA_TYPES: Readonly<Record<Kind, Filter>> = {
  text: { not: { media_type: MEDIA } },
  picture: { media_type: ['image/*'] },
  film: { media_type: ['video/*'] },
  sound: { media_type: ['audio/*'] },
};

/** The filter of the search; undefined where every file may be found. */
export function filterOf({ name, kind, from, to, field }: Only): Filter | undefined {
  const after = startOf(from, 0);
  const before = startOf(to, 1);
  const filter: Filter = {
    ...(name && { name: /[*?]/.test(name) ? name : `*${name}*` }),
    ...(kind && MEDIA_TYPES[kind]),
    ...(after && { created_after: after }),
    ...(before && { created_before: before }),
    ...(field && { metadata: metadataOf(field) }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** Days in which a file comes to count half. */
const HALF_LIFE_DAYS = 30;

/** The order of the search; undefined where the likelier hit is first. */
export function orderOf(name: OrderName | undefined): Order | undefined {
  if (name === undefined) return undefined;
  return { by: 'created_at', ...(name === 'newer' && { decay: { half_life: HALF_LIFE_DAYS } }) };
}

/** The start of a day in the reader's time zone, or of a later day. Undefined if `day` is not a date. */
function startOf(day: string | undefined, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}

/** `year=2024` as a condition; a name alone: the field is there. */
function metadataOf(text: string): NonNullable<Filter['metadata']> {
  const at = text.indexOf('=');
  if (at < 0) return { [text.trim()]: { exists: true } };
  return { [text.slice(0, at).trim()]: scalarOf(text.slice(at + 1).trim()) };
}
