import type { FileInfo } from '@farthing/protocol/document';
import type { NotRead } from '@farthing/protocol/file/not-read';
import type { HeardRecording } from '../ports/ports.ts';

/** Places of one kind that an Item tells. */
const TIMES_MAX = 20;
/** Containers tell their length no better. */
const SPARE_SECONDS = 5;

type Place = HeardRecording['said'][number] | HeardRecording['speech'][number];

/** What is not heard of a recording, and what is heard and uncertain. */
export function unheard(
  { uncertain, unwritten, seconds }: HeardRecording,
  { duration_s = 0 }: FileInfo,
): readonly NotRead[] {
  const isCutShort = seconds === 0 || seconds < duration_s - SPARE_SECONDS;
  const rest = { time_s: seconds, time_end_s: Math.max(seconds, duration_s) };
  return [
    ...told({ what: 'sound', why: 'unsupported' }, isCutShort ? [rest] : []),
    ...told({ what: 'speech', why: 'no_text' }, unwritten),
    ...told({ what: 'speech', why: 'uncertain' }, uncertain),
  ];
}

function told(kind: Pick<NotRead, 'what' | 'why'>, places: readonly Place[]): readonly NotRead[] {
  if (places.length === 0) return [];
  const times = places.slice(0, TIMES_MAX).map(({ time_s, time_end_s }) => [time_s, time_end_s]);
  return [{ ...kind, count: places.length, times }];
}
