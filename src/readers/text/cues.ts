import type { Block } from '@farthing/protocol/document';
import { type TextContents, textReader } from './text-format.ts';
import { walkXml } from './xml.ts';

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
const TIMING = new RegExp(`^[ \\t]*${TIME}[ \\t]*-->[ \\t]*${TIME}`);
const SUBRIP = new RegExp(`^\\d{1,6}[ \\t]*\\n[ \\t]*${TIME}[ \\t]*-->`);

/** Subtitles in a file of their own. */
export const subRip = textReader({ looksLike: ({ start }) => SUBRIP.test(start), read: readCues });
export const webVtt = textReader({
  looksLike: ({ start }) => /^WEBVTT(?:[ \t\n]|$)/.test(start),
  read: readCues,
});

/** SubStation Alpha, also the advanced one. */
export const subStation = textReader({
  looksLike: ({ start, text }) =>
    /^\[Script Info\]/i.test(start) && /^\[Events\]/im.test(text.slice(0, 2 ** 20)),
  read: readSubStation,
});

/** Timed Text (W3C TTML2), as broadcasters and films have it. */
export const timedText = textReader({
  looksLike: ({ start }) =>
    /^(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,1000}-->\s*)?<(?:\w{1,20}:)?tt[\s>]/.test(start),
  read: readTimedText,
});

/** Words of songs, each line with its time. */
export const lyrics = textReader({
  looksLike: ({ start }) => {
    const lines = start.split('\n', 12).filter((line) => line.trim() !== '');
    return (
      lines.filter((line) => LYRIC.test(line)).length >= 2 && lines.every((line) => /^\[[\w:.# ]/.test(line))
    );
  },
  read: readLyrics,
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

type Cue = Pick<Required<Block>, 'text' | 'time_s' | 'time_end_s'>;

function inOrder(cues: readonly Cue[]): Block[] {
  return cues
    .filter(({ text }) => text !== '')
    .toSorted((a, b) => a.time_s - b.time_s)
    .map((cue) => ({ ...cue, source: 'subtitle' }));
}

/** The lines of dialogue. Their fields are in the order that the file gives, the text last; comments are not shown. */
function readSubStation(text: string): TextContents {
  const title = /^Title:[ \t]*(\S.*)$/m.exec(text)?.[1]?.trim();
  const events = text.slice(text.search(/^\[Events\]/im));
  const names = (
    /^Format:(.*)$/im.exec(events)?.[1] ??
    'Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text'
  )
    .split(',')
    .map((name) => name.trim().toLowerCase());
  const cues = Array.from(events.matchAll(/^Dialogue:[ \t]*(.*)$/gim), ([, line]): Cue => {
    const fields = line!.split(',');
    const field = (name: string): string => (fields[names.indexOf(name)] ?? '').trim();
    const words = fields.slice(names.length - 1).join(',');
    // Codes of drawings are no words.
    const shown = /\{[^{}]{0,200}\\p[1-9]/.test(words)
      ? ''
      : words
          .replace(/\{[^{}]{0,500}\}/g, '')
          .replace(/\\[Nn]/g, '\n')
          .replaceAll('\\h', ' ')
          .trim();
    const who = field('name') || field('actor');
    const start = clock(field('start'));
    return {
      text: shown === '' || who === '' ? shown : `${who}: ${shown}`,
      time_s: start,
      time_end_s: Math.max(start, clock(field('end'))),
    };
  });
  return { ...(title && { title }), blocks: inOrder(cues) };
}

/** "1:02:03.4", of any number of parts. Zero for what is no time. */
function clock(text: string): number {
  const seconds = text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : 0;
}

const FRAME_RATE = 30;

function readTimedText(source: string): TextContents {
  const cues: Cue[] = [];
  let [rate, ticks] = [FRAME_RATE, 1];
  let cue: { text: string; from: number; to: number } | undefined;
  const begun: number[] = [];
  /** TTML2, 12.3.1: a clock, perhaps with frames, or a number with a unit. */
  const seconds = (time: string | undefined): number | undefined => {
    const [, number, unit] = /^([\d.]+)(h|ms|m|s|f|t)$/.exec(time ?? '') ?? [];
    if (number !== undefined)
      return Number(number) * { h: 3600, m: 60, s: 1, ms: 0.001, f: 1 / rate, t: 1 / ticks }[unit as 's'];
    const [, whole, frames] = /^(\d+:\d\d:\d\d(?:\.\d+)?)(?::(\d+))?$/.exec(time ?? '') ?? [];
    return whole === undefined ? undefined : clock(whole) + Number(frames ?? 0) / rate;
  };
  walkXml(source, {
    skips: (name) => name === 'head',
    open: (name, attributes) => {
      if (name === 'tt') {
        rate = Number(attributes.frameRate) || rate;
        ticks = Number(attributes.tickRate) || ticks;
      }
      const around = begun.at(-1) ?? 0;
      const from = around + (seconds(attributes.begin) ?? 0);
      begun.push(from);
      if (name === 'br' && cue) cue.text += '\n';
      if (name !== 'p') return;
      const end = seconds(attributes.end);
      cue = { text: '', from, to: end === undefined ? from + (seconds(attributes.dur) ?? 0) : around + end };
    },
    text: (text) => {
      if (cue) cue.text += text.replace(/\s+/g, ' ');
    },
    close: (name) => {
      begun.pop();
      if (name !== 'p' || !cue) return;
      const text = cue.text.replace(/ ?\n ?/g, '\n').trim();
      cues.push({ text, time_s: cue.from, time_end_s: Math.max(cue.from, cue.to) });
      cue = undefined;
    },
  });
  return { blocks: inOrder(cues) };
}

/** With parts of a second: lines of a chat or a log have none. */
const LYRIC = /^(?:\[\d{1,3}:\d{2}\.\d{2,3}\])+/;

/** A line may have several times. It lasts until the next one. */
function readLyrics(text: string): TextContents {
  const lines: { text: string; time_s: number }[] = [];
  const tags = new Map<string, string>();
  for (const line of text.split('\n')) {
    const times = LYRIC.exec(line)?.[0] ?? '';
    const [, tag, value] = /^\[(ti|ar|al|au|by):([^\]]{0,300})\]/i.exec(line) ?? [];
    if (tag !== undefined) tags.set(tag.toLowerCase(), value!.trim());
    const words = line
      .slice(times.length)
      .replace(/<\d{1,3}:\d{2}(?:\.\d{1,3})?>/g, '')
      .trim();
    for (const [, time] of times.matchAll(/\[([\d:.]+)\]/g))
      lines.push({ text: words, time_s: clock(time!) });
  }
  const sorted = lines.toSorted((a, b) => a.time_s - b.time_s);
  const cues = sorted.map(
    (line, at): Cue => ({ ...line, time_end_s: sorted[at + 1]?.time_s ?? line.time_s }),
  );
  const about = [tags.get('ar'), tags.get('al')].filter(Boolean).join(', ');
  const title = tags.get('ti');
  return {
    ...(title && { title }),
    blocks: [...(about === '' ? [] : [{ text: about }]), ...inOrder(cues)],
  };
}
