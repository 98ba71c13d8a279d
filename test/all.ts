import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CHECKS, nativeTests, type Part, testsIn } from './runner/parts.ts';
import { add, emptyTally } from './runner/tally.ts';
import { deepFiles, testFilesOf } from './runner/test-files.ts';

/**
 * Runs checks and tests, sums what they counted, and lists what failed, and what did not run and why.
 *
 *     node test/all.ts                   every check, and every kind of test
 *     node test/all.ts --deep            what takes long, at full length
 *     node test/all.ts --all             the two in one run, nothing twice
 *     node test/all.ts types …           some parts alone
 *     node test/all.ts [--deep] FILE …   test files, or folders of them
 */

/** A package's own `npm test` starts it from there. */
process.chdir(resolve(import.meta.dirname, '..'));

const USAGE = 'node test/all.ts [--deep | --all] [PART | FILE | FOLDER …]';
const words = process.argv.slice(2);
if (words.some((word) => ['--help', '-h'].includes(word))) {
  console.log(
    `${USAGE}\n\nRuns checks and tests. Without words: all but what takes long, which --deep runs. --all: both.`,
  );
  process.exit(0);
}
const strange = words.find((word) => word.startsWith('-') && !['--deep', '--all'].includes(word));
if (strange) {
  console.error(`There is no option ${strange}: ${USAGE}`);
  process.exit(2);
}
const isDeep = words.includes('--deep');
const asked = words.filter((word) => !word.startsWith('--'));

const DEEP = { DEEP: '1', TAP_TIMEOUT: '1800' };
const files = testFilesOf(['test']);
const inDepth = deepFiles(files);
const nativeInDepth = nativeTests({ PROPTEST_CASES: '300', STRESS_ROUNDS: '100' });
const quick: readonly Part[] = [...CHECKS, nativeTests(), testsIn(files)];
const deep: readonly Part[] = [nativeInDepth, testsIn(inDepth, DEEP)];
const all: readonly Part[] = [...CHECKS, nativeInDepth, testsIn(files, DEEP, inDepth)];

/** What was asked for by name, or as files. */
function partsAsked(parts: readonly Part[]): readonly Part[] {
  const named = parts.filter(({ name }) => asked.includes(name));
  const places = asked.filter((word) => !parts.some(({ name }) => name === word));
  const missing = places.find((place) => !existsSync(place));
  if (missing) {
    console.error(`${missing} is neither a file nor one of: ${parts.map(({ name }) => name).join(', ')}`);
    process.exit(2);
  }
  const those = testFilesOf(places);
  return those.length === 0 ? named : [...named, testsIn(those, isDeep ? DEEP : {})];
}

const secondsSince = (start: number) => `${((performance.now() - start) / 1000).toFixed(0)} s`;
const total = emptyTally();

/** One part after another. */
async function runEach(parts: readonly Part[]): Promise<void> {
  for (const { name, run } of parts) {
    const started = performance.now();
    const tally = await run();
    console.log(`── ${name}: ${tally.passed} passed, ${tally.failed} failed, ${secondsSince(started)}`);
    add(total, tally, name);
  }
}

/** The tests beside all else: the checks and cargo leave a processor idle for much of their time. */
async function runBesideTests(parts: readonly Part[]): Promise<void> {
  const isTests = ({ name }: Part) => name === 'tests';
  await Promise.all([runEach(parts.filter((part) => !isTests(part))), runEach(parts.filter(isTests))]);
}

const started = performance.now();
if (asked.length > 0) await runBesideTests(partsAsked(isDeep ? deep : quick));
else if (words.includes('--all')) await runBesideTests(all);
else await runBesideTests(isDeep ? deep : quick);
if (total.notRun.length > 0) {
  console.log(`\n${total.notRun.length} did not run:`);
  for (const reason of total.notRun) console.log(`  ${reason}`);
}
if (total.failures.length > 0) {
  console.log('\nfailed:');
  for (const failure of total.failures) console.log(`  ${failure}`);
}
console.log(`\nin ${secondsSince(started)}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
