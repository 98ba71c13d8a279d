import type { UnreadPart } from '@farthing/protocol/file/not-read';
import type { Sink } from './sink.ts';

/** The first `most` of a list. Reports how many more there are. */
export function upTo<T>(
  most: number,
  all: readonly T[],
  what: UnreadPart,
  report: Sink['notRead'],
): readonly T[] {
  if (all.length > most) report(what, 'limit', all.length - most);
  return all.slice(0, most);
}
