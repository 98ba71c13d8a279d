import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ERRORS } from '../../src/protocol/error.ts';
import type { Extractor } from '../../src/readers/extractor.ts';
import { deep } from '../rig/deep.ts';
import { Random } from '../rig/random.ts';
import { testExtractor } from '../rig/readers.ts';
import { FORMAT_SAMPLES } from './samples/formats.ts';

/** Randomly changed files of every format. FUZZ_SECONDS sets the duration; FUZZ_SEED repeats a run. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? deep(4, 60));
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
const FOLDERS = [
  'samples',
  ...['docx', 'office', 'other', 'packages', 'pdf', 'text', 'xlsx'].map(
    (kind) => `test/readers/reports/${kind}`,
  ),
  ...['pdf', 'office', 'image', 'audio', 'video'].map((kind) => `../shared/data/samples/${kind}`),
];

t.test(`every changed file is read or refused by code (FUZZ_SEED=${SEED})`, async (t) => {
  const { extractor } = testExtractor(t, { limits: { extractSecondsMax: 60 } });
  t.testdir({});
  const files = FOLDERS.filter(existsSync).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.\w{3,7}$/.test(name))
      .map((name) => join(folder, name)),
  );
  const seeds: readonly (readonly [name: string, bytes?: Buffer])[] = [
    ...files.map((name) => [name] as const),
    ...Object.entries(FORMAT_SAMPLES),
  ];
  const random = new Random(SEED);
  const path = join(t.testdirName, 'changed');
  const outcomes = new Map<string, number>();
  const end = performance.now() + SECONDS * 1000;
  for (let count = 0; count === 0 || performance.now() < end; count++) {
    const [name, bytes = readFileSync(name)] = seeds[random.below(seeds.length)]!;
    writeFileSync(
      path,
      changed(bytes, () => random.next()),
    );
    const outcome = await outcomeOf(extractor, path, `${path}.member`);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome !== 'read' && (!Object.hasOwn(ERRORS, outcome) || outcome === 'internal'))
      t.fail(`change ${count} of ${name} ended as ${outcome}`);
  }
  t.comment(JSON.stringify(Object.fromEntries(outcomes)));
  t.match(await extractor.open('samples/tea.txt', {}), { mediaType: 'text/plain' });
});

/** Opens, reads and unpacks a file. @returns `read`, or the code of the refusal. */
async function outcomeOf(extractor: Extractor, path: string, member: string): Promise<string> {
  try {
    const fileInfo = await extractor.open(path, {});
    if (fileInfo.kind !== 'archive') await extractor.extract(path, fileInfo);
    if (fileInfo.members) await extractor.unpack(path, fileInfo, { target: () => member });
    return 'read';
  } catch (error) {
    return (error as { code?: string }).code ?? 'none';
  }
}

/** Overwrites some bytes, or repeats, removes or cuts off a stretch. */
function changed(bytes: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * bytes.length);
  const length = Math.floor(random() * Math.min(4096, bytes.length - at));
  const way = random();
  if (way < 0.15) return bytes.subarray(0, at);
  if (way < 0.3) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
  if (way < 0.4) return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
  const copy = Buffer.from(bytes);
  for (let count = 1 + Math.floor(random() * 16); count > 0; count--) {
    // The first bytes hold most of the structure.
    const where = random() < 0.5 ? random() * Math.min(1024, copy.length) : random() * copy.length;
    copy[Math.floor(where)] = Math.floor(random() * 256);
  }
  return copy;
}
