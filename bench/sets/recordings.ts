import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { wavOf } from '../../test/engine/encode/rig/wav.ts';

/** Shorter prompts give a decoder no context. */
const WORDS_MIN = 6;
const PAUSE_SECONDS = 0.6;
const RECORDING_SECONDS_MAX = 60;
const SET_SECONDS_MAX = 600;

/**
 * Makes a set of recordings out of short ones whose words are known: neighbours by name are joined with pauses, up to a minute each.
 * @param sounds folder of WAV files with 16 bits, one channel, and one rate
 * @param texts lines `name: words`, or `words (name)` as CMU Sphinx has them
 * @returns the number of recordings
 */
export function makeRecordingsSet(sounds: string, texts: string, to: string): number {
  mkdirSync(to, { recursive: true });
  const transcripts: Record<string, string> = {};
  let [samples, words, rate, total]: [Buffer[], string[], number, number] = [[], [], 0, 0];
  const secondsOf = (parts: readonly Buffer[]) =>
    parts.reduce((sum, { length }) => sum + length, 0) / 2 / rate;
  const close = () => {
    if (samples.length === 0) return;
    const name = `${String(Object.keys(transcripts).length + 1).padStart(2, '0')}.wav`;
    writeFileSync(join(to, name), wavOf(Buffer.concat(samples), rate));
    transcripts[name] = words.join(' ');
    [samples, words] = [[], []];
  };
  for (const [name, text] of textsOf(texts)) {
    const wav = wavIn(join(sounds, `${name}.wav`));
    if (!wav || text.split(/\s+/).length < WORDS_MIN) continue;
    rate = wav.rate;
    const added = [wav.samples, Buffer.alloc(2 * Math.round(PAUSE_SECONDS * rate))];
    total += secondsOf(added);
    if (total > SET_SECONDS_MAX) break;
    if (secondsOf([...samples, ...added]) > RECORDING_SECONDS_MAX) close();
    samples.push(...added);
    words.push(text);
  }
  close();
  writeFileSync(join(to, 'transcripts.json'), `${JSON.stringify(transcripts, null, 2)}\n`);
  return Object.keys(transcripts).length;
}

/** Words by name, in the order of names; prompts that are no words stand in brackets. */
function textsOf(path: string): (readonly [name: string, text: string])[] {
  const bytes = readFileSync(path);
  const lines = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8').split('\n');
  const found = lines.flatMap((line) => {
    const [, words, file] = /^<s> (.+) <\/s> \((.+)\)$/.exec(line) ?? [];
    if (words) return [[file!, words.trim()] as const];
    const [, name, text] = /^([\w/-]+): ([^[(<].*)$/.exec(line) ?? [];
    return name ? [[name, text!.trim()] as const] : [];
  });
  return found.toSorted(([first], [second]) => (first < second ? -1 : 1));
}

/** Undefined where there is no such file. */
function wavIn(path: string): { rate: number; samples: Buffer } | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return undefined;
  }
  const data = file.indexOf('data', 36, 'latin1');
  return {
    rate: file.readUInt32LE(24),
    samples: file.subarray(data + 8, data + 8 + file.readUInt32LE(data + 4)),
  };
}
