import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ManifestVoice } from '../../../../src/engine/encode/models/manifest.ts';
import { openListening } from '../../../../src/engine/encode/speech/listening.ts';
import { fewer, Stretches } from '../../../../src/engine/encode/speech/stretches.ts';
import { EXTRACT_LIMITS, SOUND_RATE } from '../../../../src/protocol/document.ts';
import { openExtractor } from '../../../../src/readers/open-extractor.ts';
import { onlyDeep } from '../../../rig/deep.ts';
import { eventually } from '../../../rig/eventually.ts';
import { MODELS, openEmbeddedListening } from '../rig/embedded.ts';
import { RECORDING, SENTENCE, withoutRecording } from '../rig/recording.ts';
import '../../../rig/teardown-order.ts';

const VOICE = {
  sample_rate: 16_000,
  window: 1_600,
  begins_at: 0.5,
  ends_below: 0.35,
  speech_seconds_min: 0.25,
  silence_seconds_min: 0.5,
} as ManifestVoice;

function stretchesOf(probabilities: readonly number[]) {
  const stretches = new Stretches(VOICE);
  for (const probability of probabilities) stretches.push(probability);
  return stretches.finish();
}

t.test(
  'a stretch begins with speech, outlasts short silences, and is dropped when it is too short',
  async (t) => {
    const [yes, maybe, no] = [0.9, 0.4, 0.1];
    t.same(stretchesOf([no, no, yes, yes, yes, no, no, yes, no, no, no, no, no, no]), [
      { time_s: 0.2, time_end_s: 0.8 },
    ]);
    t.same(stretchesOf([no, yes, yes, no, no, no, no, no]), [], 'two tenths of a second are a cough');
    t.same(stretchesOf([yes, yes, yes, maybe, maybe, maybe, maybe, maybe, maybe, yes]), [
      { time_s: 0, time_end_s: 1 },
    ]);
    t.same(stretchesOf([]), []);
  },
);

t.test('very many stretches are merged with their nearest neighbours', async (t) => {
  const many = Array.from({ length: 100 }, (_, at) => ({ time_s: at * 3, time_end_s: at * 3 + 1.5 }));
  const merged = fewer(many, 10);
  t.ok(merged.length <= 10);
  t.equal(merged[0]?.time_s, 0);
  t.equal(merged.at(-1)?.time_end_s, many.at(-1)?.time_end_s);
});

t.test('speech is heard in a recording of speech, and none in silence and noise', async (t) => {
  const listening = await openEmbeddedListening(t);
  const silent = listening.listen();
  await silent.hear(new Int16Array(2 * SOUND_RATE));
  await silent.hear(Int16Array.from({ length: SOUND_RATE }, (_, at) => ((at * 7919) % 200) - 100));
  t.same((await silent.finish()).speech, []);
  if (withoutRecording || onlyDeep) return t.comment(withoutRecording || onlyDeep);
  const extractor = openExtractor({
    pictureSpec: undefined,
    limits: EXTRACT_LIMITS,
    scratchFolder: join(t.testdirName, 'scratch'),
    log: () => undefined,
  });
  t.teardown(() => extractor.close());
  const listener = listening.listen();
  const opened = await extractor.open(RECORDING, {});
  let samples = 0;
  await extractor.extract(RECORDING, opened, {
    onSound: async (piece) => {
      samples += piece.length;
      // Odd pieces: the rest of a window waits for the next piece.
      for (let at = 0; at < piece.length; at += 12_345) await listener.hear(piece.slice(at, at + 12_345));
    },
  });
  t.ok(Math.abs(samples / SOUND_RATE - opened.duration_s!) < 0.1, 'all of it was heard');
  const { speech: stretches, said } = await listener.finish();
  t.ok(
    said
      .map(({ text }) => text)
      .join(' ')
      .includes(SENTENCE.words),
    'and written down',
  );
  t.ok(said.every(({ language }) => language === 'en'));
  t.ok(stretches.length >= 2, `${stretches.length} stretches`);
  t.ok(stretches.every(({ time_s, time_end_s }) => time_end_s > time_s && time_end_s <= 11.1));
  const spoken = stretches.reduce((sum, { time_s, time_end_s }) => sum + time_end_s - time_s, 0);
  t.ok(spoken > 5 && spoken < 10.5, `${spoken.toFixed(1)} of 11 seconds`);
});

t.test('without a model of speech nothing is written, and the log says why', async (t) => {
  const modelsFolder = join(t.testdir({}), 'models');
  mkdirSync(modelsFolder);
  for (const name of ['manifest.json', 'silero-vad'])
    cpSync(join(MODELS, name), join(modelsFolder, name), { recursive: true });
  const logged: object[] = [];
  const listening = await openListening({
    modelsFolder,
    cacheFolder: join(t.testdirName, 'cache'),
    log: (event) => logged.push(event),
  });
  t.teardown(() => listening?.close());
  t.equal(listening?.writes, false);
  t.match(logged, [{ event: 'model_missing', model: 'whisper-base', reason: /is not installed/ }]);
});

t.test(
  'the thread ends when nobody has needed it for a while, and a recording goes on in the next',
  async (t) => {
    const listening = await openListening({
      modelsFolder: MODELS,
      cacheFolder: join(t.testdir({}), 'cache'),
      idleMsMax: 0,
      log: () => undefined,
    });
    if (!listening) throw new Error('the embedded model is not there');
    t.teardown(() => listening.close());
    const threads = () => readdirSync('/proc/self/task').length;
    // Threads that the process keeps start with the first recording.
    const first = listening.listen();
    await first.hear(new Int16Array(SOUND_RATE));
    let open = threads();
    await eventually(() => threads() < open);
    await first.hear(new Int16Array(SOUND_RATE));
    open = threads();
    await eventually(() => threads() < open);
    t.same((await first.finish()).said, []);
  },
);
