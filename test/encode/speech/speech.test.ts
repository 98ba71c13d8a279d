import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SOUND_RATE } from '../../../src/domain/document.ts';
import type { ManifestSpeech, ManifestVoice } from '../../../src/encode/models/manifest.ts';
import { ByteTokens } from '../../../src/encode/speech/byte-tokens.ts';
import { Listener } from '../../../src/encode/speech/listener.ts';
import { MelSpectrogram } from '../../../src/encode/speech/mel.ts';
import { SpeechWriter } from '../../../src/encode/speech/speech-writer.ts';
import { SPEECH_VOCABULARY, speechDecoder, speechEncoder, speechReference } from '../rig/onnx-file.ts';

const SPEECH: ManifestSpeech = {
  encoder: 'encoder',
  decoder: 'decoder',
  tokenizer: 'tokenizer',
  sample_rate: 16_000,
  fft: 400,
  hop: 160,
  mel_bins: 80,
  seconds: 2,
  inputs: { sound: 'input_features', ids: 'input_ids', hidden: 'encoder_hidden_states' },
  outputs: { hidden: 'last_hidden_state', logits: 'logits' },
  prompt: [1, 2],
  end: 0,
  suppressed: [],
  tokens_max: 12,
};
const DIMENSIONS = 8;

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

t.test(
  'a model of Whisper’s shape with random weights transcribes as a computation by hand does',
  async (t) => {
    const folder = t.testdir({});
    const at = (name: string) => join(folder, name);
    writeFileSync(at('encoder'), speechEncoder(SPEECH.mel_bins, DIMENSIONS));
    writeFileSync(at('decoder'), speechDecoder(DIMENSIONS));
    const vocab = Object.fromEntries(Array.from({ length: SPEECH_VOCABULARY }, (_, id) => [`t${id}.`, id]));
    writeFileSync(at('tokenizer'), JSON.stringify({ model: { vocab } }));
    const open = (speech: ManifestSpeech) =>
      SpeechWriter.open({
        encoder: at('encoder'),
        decoder: at('decoder'),
        tokenizer: at('tokenizer'),
        speech,
      });
    const samples = tone(440, 1);
    const mel = new MelSpectrogram(SPEECH).of(samples);
    const reference = (speech: ManifestSpeech) => speechReference(mel, speech, DIMENSIONS);
    const expected = reference(SPEECH);
    t.ok(expected.length > 0);
    const textOf = (ids: readonly number[]) => ids.map((id) => `t${id}.`).join('');
    t.equal(await (await open(SPEECH)).write(samples), textOf(expected));
    const without = { ...SPEECH, suppressed: [expected[0]!] };
    const others = reference(without);
    t.not(others[0], expected[0]);
    t.equal(await (await open(without)).write(samples), textOf(others), 'a suppressed token is never chosen');
    const ending = { ...SPEECH, end: expected[0]! };
    t.equal(await (await open(ending)).write(samples), '', 'the end token ends it');
  },
);

t.test('each stretch is transcribed with its sound and times, long ones in parts', async (t) => {
  const voice = {
    sample_rate: 16_000,
    window: 1_600,
    context: 0,
    begins_at: 0.5,
    ends_below: 0.35,
    speech_seconds_min: 0.2,
    silence_seconds_min: 0.3,
  } as ManifestVoice;
  const lengths: number[] = [];
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
      seconds: 2,
      write: async (samples) => {
        lengths.push(samples.length / SOUND_RATE);
        return samples.every((sample) => sample > 0.1) ? 'words' : 'silence too';
      },
    },
  });
  const second = (value: number, seconds: number) => new Int16Array(seconds * SOUND_RATE).fill(value);
  for (const piece of [second(0, 1), second(9000, 1.5), second(0, 1), second(9000, 5), second(0, 1)])
    await listener.hear(piece);
  const { speech, said } = await listener.finish();
  t.equal(speech[0]?.time_s, 1);
  t.equal(speech[0]?.time_end_s, 2.5);
  t.same(said[0], { time_s: 1, time_end_s: 2.5, text: 'words' });
  t.ok(
    lengths.every((length) => length <= 2),
    'never more than the model takes',
  );
  t.ok(
    said.every(({ text }) => text === 'words'),
    'all of it is speech',
  );
  const spoken = said.reduce((sum, { time_s, time_end_s }) => sum + time_end_s - time_s, 0);
  t.equal(Math.round(spoken * 10) / 10, 6.5, 'nothing is left out');
});

t.test('with a model installed, speech is found by its words', { skip: false }, async (t) => {
  const { openListening } = await import('../../../src/encode/speech/listening.ts');
  const { readFileSync, cpSync } = await import('node:fs');
  const folder = join(t.testdir({}), 'models');
  mkdirSync(join(folder, 'speech'), { recursive: true });
  cpSync('models/silero-vad', join(folder, 'silero-vad'), { recursive: true });
  const manifest = JSON.parse(readFileSync('models/manifest.json', 'utf8'));
  const vocab = Object.fromEntries(Array.from({ length: SPEECH_VOCABULARY }, (_, id) => [`Ġw${id}`, id]));
  const files: Record<string, Uint8Array> = {
    encoder: speechEncoder(SPEECH.mel_bins, DIMENSIONS),
    decoder: speechDecoder(DIMENSIONS),
    tokenizer: Buffer.from(JSON.stringify({ model: { vocab } })),
  };
  const described = Object.entries(files).map(([name, bytes]) => {
    writeFileSync(join(folder, 'speech', name), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return [name, { path: `speech/${name}`, sha256, bytes: bytes.length }] as const;
  });
  const model = {
    name: 'small-speech',
    family: 'speech',
    revision: '1',
    licence: 'none',
    source: 'a test',
    files: Object.fromEntries(described),
    speech: SPEECH,
    lists: {},
  };
  manifest.use.speech = 'small-speech';
  manifest.models.push(model);
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const listening = await openListening({
    modelsFolder: folder,
    cacheFolder: join(t.testdirName, 'cache'),
    log: () => undefined,
  });
  t.teardown(() => listening?.close());
  t.equal(listening?.writes, true);
  const listener = listening!.listen();
  await listener.hear(new Int16Array(SOUND_RATE));
  t.same(await listener.finish(), { speech: [], said: [] }, 'silence is not written down');
});
