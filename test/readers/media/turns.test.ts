import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../../rig/eventually.ts';
import { testExtractor } from '../../rig/readers.ts';
import { FILM_SOUND_RATE, writeFilm } from '../samples/films.ts';
import '../../rig/teardown-order.ts';

t.setTimeout(120_000);

/** Its samples say where they stand. */
function writeSound(path: string, seconds: number): string {
  const sound = Array.from({ length: seconds }, (_, second) => {
    const samples = Int16Array.from(
      { length: FILM_SOUND_RATE },
      (_, at) => (second * FILM_SOUND_RATE + at) % 32_749,
    );
    return { ms: second * 1000, data: Buffer.from(samples.buffer), lasts: 1000 };
  });
  writeFilm(path, 'matroska', { width: 160, height: 80, frames: [], sound });
  return path;
}

t.test(
  'recordings that are listened to for long let others in between, and lose and repeat nothing',
  async (t) => {
    const { extractor } = testExtractor(t, { listeningTurnMs: 0 });
    const folder = t.testdir({});
    const [all, begin] = signalOf();
    const [shortIsHeard, end] = signalOf();
    const hear = async (tenant: string, seconds: number, waits: readonly Promise<void>[]): Promise<void> => {
      const path = writeSound(join(folder, tenant), seconds);
      const info = await extractor.open(path, { tenant });
      const heard: number[] = [];
      let pieces = 0;
      await extractor.extract(path, info, {
        tenant,
        onSound: async (samples) => {
          await waits[pieces++];
          for (const sample of samples) heard.push(sample);
        },
      });
      t.equal(heard.length, seconds * FILM_SOUND_RATE, `${tenant}: all of it`);
      const fault = heard.findIndex((sample, at) => sample !== at % 32_749);
      t.equal(fault, -1, `${tenant}: each sample in its place`);
    };
    // They would hold all readers until the short one has had one.
    const long = ['first', 'second'].map((tenant) => hear(tenant, 45, [all, shortIsHeard]));
    await eventually(() => extractor.depths().extracting === 2);
    const short = hear('third', 5, []).then(end);
    await eventually(() => extractor.depths().extracting === 3);
    begin();
    await Promise.all([...long, short]);
  },
);

function signalOf(): [Promise<void>, () => void] {
  let signal = (): void => {};
  return [
    new Promise((resolve) => {
      signal = resolve;
    }),
    () => signal(),
  ];
}
