import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type {
  Manifest,
  ManifestSpeech,
  ManifestVoice,
} from '../../../../src/engine/encode/models/manifest.ts';
import { ByteTokens } from '../../../../src/engine/encode/speech/byte-tokens.ts';
import { TokenChoice } from '../../../../src/engine/encode/speech/choice.ts';
import { Clips } from '../../../../src/engine/encode/speech/clips.ts';
import { Listener } from '../../../../src/engine/encode/speech/listener.ts';
import { MelSpectrogram } from '../../../../src/engine/encode/speech/mel.ts';
import {
  isBelieved,
  type Phrase,
  phrasesOf,
  repeated,
} from '../../../../src/engine/encode/speech/phrases.ts';
import { SpeechWriter } from '../../../../src/engine/encode/speech/speech-writer.ts';
import { SOUND_RATE } from '../../../../src/protocol/document.ts';
import { MODELS, openEmbeddedListening } from '../rig/embedded.ts';
import '../../../rig/teardown-order.ts';

const [WORD, SUPPRESSED] = [0, 5];
const SPEECH: ManifestSpeech = {
  encoder: 'encoder',
  decoder: 'decoder',
  tokenizer: 'tokenizer',
  sample_rate: 16_000,
  fft: 400,
  hop: 160,
  mel_bins: 80,
  seconds: 2,
  start: 11,
  languages: [13, 14],
  transcribe: 12,
  end: 10,
  no_times: 15,
  suppressed: [SUPPRESSED],
  suppressed_first: [10],
  tokens_max: 12,
};
/** The embedded model, over clips of two seconds. */
const WHISPER = (() => {
  const { models } = JSON.parse(readFileSync(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  const { files, speech } = models.find(({ name }) => name === 'whisper-base')!;
  const at = (part: 'encoder' | 'decoder' | 'tokenizer') => join(MODELS, files[part]!.path);
  const paths = { encoder: at('encoder'), decoder: at('decoder'), tokenizer: at('tokenizer') };
  return { ...paths, speech: { ...speech!, seconds: 2 } };
})();

/** A tone, as samples from −1 to 1. */
function tone(hertz: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: seconds * SOUND_RATE },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / SOUND_RATE),
  );
}

t.test('a spectrogram has its tone in the right place, and a range of eight powers of ten', async (t) => {
  const mel = new MelSpectrogram(SPEECH);
  t.equal(mel.frames, 200);
  const strongest = [300, 1000, 3000, 6000].map((hertz) => {
    const logs = mel.of(tone(hertz, 2));
    const column = Array.from({ length: SPEECH.mel_bins }, (_, bin) => logs[bin * mel.frames + 100]!);
    const [highest, lowest] = [Math.max(...logs), Math.min(...logs)];
    t.ok(highest - lowest <= 2.0001, `a range of ${(highest - lowest) * 4} powers`);
    return column.indexOf(Math.max(...column));
  });
  // 80 bins over 45.25 mels: 300 Hz is mel 4.5, 1000 Hz mel 15, 3000 Hz mel 31, 6000 Hz mel 41.
  t.same(strongest, [7, 26, 54, 72], 'of Slaney’s scale');
  const silence = mel.of(new Float32Array(10));
  t.ok(
    silence.every((value) => value === silence[0]),
    'silence is flat',
  );
});

t.test('byte tokens become text again', async (t) => {
  const tokens = new ByteTokens(
    JSON.stringify({
      model: { vocab: { Hello: 0, Ġcaf: 1, 'Ã©': 2, Ċ: 3, '<|end|>': 4 } },
      added_tokens: [{ id: 4, special: true }],
    }),
  );
  t.equal(tokens.text([0, 1, 2, 3, 4, 99]), 'Hello café\n');
});

t.test('what may follow: a time first, no time before another, and nothing that is suppressed', async (t) => {
  const choice = new TokenChoice(SPEECH);
  const time = (second: number) => choice.firstTime + second * 50;
  const logits = (...high: (readonly [id: number, value: number])[]) => {
    const all = new Float32Array(time(2) + 1).fill(-20);
    for (const [id, value] of high) all[id] = value;
    return all;
  };
  const next = (chosen: readonly number[], ...high: (readonly [number, number])[]) =>
    choice.next(logits(...high), chosen, 2).id;
  t.equal(next([], [WORD, 9], [time(0.5), 1]), time(0.5), 'the first is a time');
  t.equal(next([], [time(1.5), 9], [time(1), 1]), time(1), 'and within a second');
  t.equal(next([time(0)], [time(1), 9], [WORD, 1]), WORD, 'words follow the time that begins a phrase');
  t.equal(next([time(0)], [WORD, 9], [SPEECH.end, 1]), WORD);
  t.equal(next([time(0)], [WORD, 1], [SPEECH.end, 9]), SPEECH.end, 'an empty phrase may end it');
  t.equal(next([time(1), WORD], [time(0.5), 9], [WORD, 1]), WORD, 'times do not go back');
  t.equal(next([time(0), WORD, time(1)], [WORD, 9], [time(1), 1]), time(1), 'a phrase begins with a time');
  t.equal(next([time(0), WORD], [SUPPRESSED, 9], [WORD, 1]), WORD);
  t.equal(next([time(0), WORD], [SPEECH.no_times, 9], [WORD, 1]), WORD, 'no token of another task');
  // Ten times of e^1 each are together likelier than a word of e^2.
  const spread = Array.from({ length: 10 }, (_, at) => [time(1) + at, 1] as const);
  t.equal(next([time(0), WORD], [WORD, 2], ...spread), time(1), 'times count together');
  t.equal(next([time(0), WORD], [WORD, 4], ...spread), WORD);
  const { logProbability } = choice.next(logits([WORD, 0], [WORD + 1, 0], [SUPPRESSED, 30]), [time(0)], 2);
  t.ok(Math.abs(Math.exp(logProbability) - 0.5) < 1e-6, 'shares are among what may follow');
});

t.test('a decoder that repeats itself is noticed, a speaker who does is not', async (t) => {
  const loop = (length: number, times: number) =>
    Array.from({ length: length * times }, (_, at) => at % length);
  t.equal(repeated([50, 51, 52, ...loop(5, 3)]), 10, 'all but the first time go');
  t.equal(repeated(loop(1, 8)), 7);
  t.equal(repeated(loop(1, 7)), 0, 'no, no, no, no, no, no, no');
  t.equal(repeated(loop(3, 3)), 0, 'we shall fight, we shall fight, we shall fight');
  t.equal(repeated([...loop(5, 3), 99]), 0);
  t.equal(repeated([]), 0);
});

t.test('tokens become phrases with their seconds and certainty', async (t) => {
  const vocab = { Ask: 0, Ġnot: 1, Ġwhat: 2, 'Ġ.': 3 };
  const tokens = new ByteTokens(JSON.stringify({ model: { vocab } }));
  const [first, even] = [100, Math.log(0.25)];
  const chosen = [100, 0, 1, 150, 160, 2, 170, 170, 3, 180, 190, 2].map((id) => ({
    id,
    logProbability: even,
  }));
  const phrases = phrasesOf(chosen, tokens, first, 1.7);
  t.same(
    phrases.map(({ time_s, time_end_s, text }) => [time_s, time_end_s, text]),
    [
      [0, 1, 'Ask not'],
      [1.2, 1.4, 'what'],
      [1.4, 1.6, '.'],
      [1.7, 1.7, 'what'],
    ],
    'a time behind the clip’s end is its end; a phrase without an end lasts until it',
  );
  t.ok(phrases.every(({ certainty }) => Math.abs(certainty - 0.25) < 1e-9));
  const [words, , point] = phrases as [Phrase, Phrase, Phrase];
  const sure = { ...words, certainty: 0.9 };
  t.ok(isBelieved(sure));
  t.notOk(isBelieved(words), 'a phrase that the model itself doubts is not believed');
  t.notOk(isBelieved({ ...point, certainty: 1 }), 'nor are signs without a word');
  t.notOk(isBelieved({ ...sure, text: 'x'.repeat(60) }), 'nor more than anybody says in a second');
});

t.test('stretches are joined to clips until they are full or a silence is long', async (t) => {
  const joined = (secondsMax: number, ...stretches: [number, number][]) => {
    const clips = new Clips(secondsMax);
    const found = [
      ...stretches.map(([time_s, time_end_s]) => clips.push({ time_s, time_end_s })),
      clips.flush(),
    ];
    return found.flatMap((clip) => (clip ? [[clip.time_s, clip.time_end_s, clip.stretches.length]] : []));
  };
  t.same(joined(28, [1, 3], [3.6, 9], [10, 20]), [[0.8, 20.2, 3]], 'with a margin on both sides');
  t.same(joined(28, [0, 3], [6, 9]), [
    [0, 3.2, 1],
    [5.8, 9.2, 1],
  ]);
  t.same(
    joined(10, [0, 6], [6.5, 9.5], [9.5, 12]),
    [
      [0, 9.7, 2],
      [9.5, 12.2, 1],
    ],
    'no more than fits, and none loses its first word',
  );
  const open = new Clips(28);
  open.push({ time_s: 1, time_end_s: 2 });
  t.equal(open.flush(3), undefined, 'a stretch that begins now could still join');
  t.equal(open.neededFrom, 0.8);
  t.ok(open.flush(5), 'not after a long silence');
  t.equal(open.neededFrom, undefined);
});

t.test('the embedded model writes within its limits, and the same each time', async (t) => {
  const writer = await SpeechWriter.open(WHISPER);
  const written = await writer.write(tone(440, 1));
  t.same(await writer.write(tone(440, 1)), written);
  t.ok(
    written.phrases.every(({ time_s, time_end_s }) => time_s >= 0 && time_end_s <= 1 && time_s <= time_end_s),
  );
  const languageOf = async (sound: Float32Array, before?: string) =>
    (await writer.write(sound, before)).language;
  const [certain, uncertain] = [tone(2_000, 2), tone(1_000, 2)];
  const { code, share } = await languageOf(certain);
  t.ok(share > 0.5, `${code} with ${share}`);
  t.equal(
    (await languageOf(certain, code === 'de' ? 'fr' : 'de')).code,
    code,
    'the former one changes nothing',
  );
  t.ok((await languageOf(uncertain)).share < 0.5);
  for (const former of ['de', 'fr']) t.equal((await languageOf(uncertain, former)).code, former);
});

t.test('clips are transcribed with their sound and times, long ones in parts', async (t) => {
  const voice = {
    sample_rate: 16_000,
    window: 1_600,
    context: 0,
    begins_at: 0.5,
    ends_below: 0.35,
    speech_seconds_min: 0.2,
    silence_seconds_min: 0.3,
  } as ManifestVoice;
  const clips: { seconds: number; loud: number; before: string | undefined }[] = [];
  const listener = new Listener({
    voice,
    // Speech is what is not silent.
    listen: async ({ samples }) => ({
      probabilities: Float32Array.from({ length: samples.length / voice.window }, (_, at) =>
        samples[at * voice.window]! > 0.1 ? 1 : 0,
      ),
      state: new Float32Array(),
    }),
    writing: {
      secondsMax: 10,
      write: async (samples, before) => {
        const seconds = samples.length / SOUND_RATE;
        const loud = samples.filter((sample) => sample > 0.1).length / SOUND_RATE;
        clips.push({ seconds, loud, before });
        const certainty = clips.length === 1 ? 0.35 : 0.9;
        const words = { time_s: 0, time_end_s: seconds, text: 'words', certainty };
        const nobody = { time_s: seconds + 1, time_end_s: seconds + 2, text: 'Thank you.', certainty: 0.9 };
        const phrases = clips.length === 4 ? [nobody] : [words, nobody];
        return { phrases, language: { code: 'de', share: 0.9 } };
      },
    },
  });
  const second = (value: number, seconds: number) => new Int16Array(seconds * SOUND_RATE).fill(value);
  const spoken = [
    [0, 1],
    [9000, 1.5],
    [0, 1],
    [9000, 2],
    [0, 3],
    [9000, 23],
    [0, 1],
  ] as const;
  for (const [value, seconds] of spoken) await listener.hear(second(value, seconds));
  const { speech, said, uncertain, unwritten, seconds } = await listener.finish();
  t.equal(seconds, 32.5);
  t.same(uncertain, said.slice(0, 1), 'what may be wrong is told');
  t.match(unwritten, [{ time_end_s: 31.5 }], 'and what nothing was written of');
  t.equal(unwritten.length, 1);
  t.same(
    speech,
    [
      { time_s: 1, time_end_s: 2.5 },
      { time_s: 3.5, time_end_s: 5.5 },
      { time_s: 8.5, time_end_s: 31.5 },
    ],
    'where somebody speaks is told without the cuts',
  );
  t.same(said[0], { time_s: 0.8, time_end_s: 5.7, text: 'words', certainty: 0.35, language: 'de' }, 'joined');
  t.ok(
    clips.every(({ seconds }) => seconds <= 10),
    'never more than the model takes',
  );
  t.equal(clips[0]?.before, undefined);
  t.ok(
    clips.slice(1).every(({ before }) => before === 'de'),
    'the language is remembered',
  );
  const loud = clips.reduce((sum, clip) => sum + clip.loud, 0);
  t.ok(loud >= 26.4, `${loud} s: nothing is left out`);
  t.ok(
    said.every(({ text }) => text === 'words'),
    'what is written where nobody speaks is dropped',
  );
});

t.test('recordings of one owner take turns with those of others', async (t) => {
  const listening = await openEmbeddedListening(t);
  t.equal(listening.writes, true);
  const order: string[] = [];
  const many = [1, 2, 3].map(() => listening.listen('many'));
  const one = listening.listen('one');
  const hear = async (name: string, listener: Listener) => {
    for (let piece = 0; piece < 3; piece++) {
      await listener.hear(new Int16Array(SOUND_RATE));
      order.push(name);
    }
  };
  await Promise.all([...many.map((listener) => hear('many', listener)), hear('one', one)]);
  t.ok(order.lastIndexOf('one') < 10, `${order.join(' ')}: one owner has every second turn, by milliseconds`);
  const silent = { speech: [], said: [], uncertain: [], unwritten: [], seconds: 2.976 };
  t.same(await one.finish(), silent, 'silence is not written down');
});
