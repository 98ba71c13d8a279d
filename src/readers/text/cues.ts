import type { Block } from '@farthing/protocol/document';
import { type TextContents, textReader } from './text-format.ts';

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
const TIMING = new RegExp(`^[ \\t]*${TIME}[ \\t]*-->[ \\t]*${TIME}`);
const SUBRIP = new RegExp(`^\\d{1,6}[ \\t]*\\n[ \\t]*${TIME}[ \\t]*-->`);

/** Subtitles in a file of their own. */
export const subRip = textReader({ looksLike: ({ start }) => SUBRIP.test(start), read: readCues });
export const webVtt = textReader({
  looksLike: ({ start }) => /^WEBVTT(?:[ \t\n]|$)/.test(start),
  read: readCues,
});

/** Each cue with its time; speakers by name, other marks dropped. Notes, styles and regions are no text. */
export function readCues(text: string): TextContents {
  const blocks: Block[] = [];
  for (const part of text.split(/\n[ \t]*\n/)) {
    const lines = part.split('\n');
    const at = lines.findIndex((line) => TIMING.test(line));
    if (at < 0) continue;
    const [, h = '0', m, s, ms, endH = '0', endM, endS, endMs] = TIMING.exec(lines[at]!)!;
    const words = wordsOf(lines.slice(at + 1).join('\n'));
    if (words === '') continue;
    const time_s = seconds(h, m!, s!, ms!);
    const time_end_s = Math.max(time_s, seconds(endH, endM!, endS!, endMs!));
    blocks.push({ text: words, time_s, time_end_s, source: 'subtitle' });
  }
  return { blocks };
}

function seconds(h: string, m: string, s: string, fraction: string): number {
  return Number(h) * 3600 + Number(m) * 60 + Number(s) + Number(fraction.padEnd(3, '0')) / 1000;
}

function wordsOf(text: string): string {
  return text
    .replace(/<v(?:\.[^\s>]{0,100})?\s+([^>\n]{1,200})>/g, '$1: ')
    .replace(/<\/?[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}/g, '')
    .replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_all, name: string) => ENTITIES[name]!)
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  lrm: '',
  rlm: '',
};
