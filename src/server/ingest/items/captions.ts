import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TextSource } from '@farthing/protocol/file/segment';
import type { ItemId } from '@farthing/protocol/id';
import type { SegmentRecord } from '@farthing/protocol/schema/search';
import type { TextSnapshot } from '../ports/ports.ts';

/** Four hours of speech or subtitles have fewer. */
const PASSAGES_MAX = 20_000;
/** Passages read in one turn of the event loop. */
const CHUNK = 256;
/** Length of a caption without an end. */
const CUE_SECONDS = 5;
const CAPTIONED: ReadonlySet<TextSource | undefined> = new Set(['speech', 'subtitle', undefined]);

interface Cue {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Speech, subtitles, and subtitle files as WebVTT (W3C). Without any: no cues.
 * @returns undefined for an item that is not there
 */
export async function captionsOf(snapshot: TextSnapshot, id: ItemId): Promise<string | undefined> {
  const range = snapshot.segmentsOf(id);
  if (!range) return undefined;
  const cues: Cue[] = [];
  for (let from = 0; from < Math.min(range.count, PASSAGES_MAX); from += CHUNK) {
    if (from > 0) await nextTurn();
    const count = Math.min(CHUNK, range.count - from);
    const numbers = Uint32Array.from({ length: count }, (_, index) => range.first + from + index);
    cues.push(...snapshot.records(numbers).flatMap((record) => cueOf(record) ?? []));
  }
  cues.sort((a, b) => a.from - b.from);
  const written = cues.map(({ from, to, text }, at) => {
    // A caption ends when the next one begins.
    const end = Math.max(from, Math.min(to, cues[at + 1]?.from ?? to));
    return `\n${clock(from)} --> ${clock(end)}\n${text}\n`;
  });
  return `WEBVTT\n${written.join('')}`;
}

function cueOf(record: SegmentRecord | undefined): Cue | undefined {
  const { text, text_source, locator } = record ?? {};
  const time = locator?.time_s;
  if (text === undefined || time === undefined || !CAPTIONED.has(text_source)) return undefined;
  return { from: time, to: locator?.time_end_s ?? time + CUE_SECONDS, text: cueText(text) };
}

/** Without blank lines, which end a cue, and without markup. */
function cueText(text: string): string {
  const lines = text.split(/\s*\n\s*/).filter((line) => line !== '');
  return lines.join('\n').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** `HH:MM:SS.mmm` */
function clock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const [hours, minutes, rest] = [3_600_000, 60_000, 1_000].map((unit) =>
    Math.floor(milliseconds / unit),
  ) as [number, number, number];
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = String(milliseconds % 1000).padStart(3, '0');
  return `${two(hours)}:${two(minutes % 60)}:${two(rest % 60)}.${fraction}`;
}
