import { existsSync } from 'node:fs';
import { CHECKS, nativeTests, type Part } from './runner/parts.ts';
import { add, emptyTally } from './runner/tally.ts';
import { deepFiles, runTestFiles, testFilesOf } from './runner/test-files.ts';

/**
 * Runs checks and tests, sums what they counted, and lists what failed, and what did not run and why.
 *
 *     node test/all.ts                   every check, and every kind of test
 *     node test/all.ts --deep            what takes long, at full length
 *     node test/all.ts types …           some parts alone
 *     node test/all.ts [--deep] FILE …   test files, or folders of them
 */

const words = process.argv.slice(2);
const isDeep = words.includes('--deep');
const asked = words.filter((word) => word !== '--deep');

const filesPart = (files: readonly string[]): Part => ({
  name: 'tests',
  run: () => runTestFiles(files, { ...process.env, ...(isDeep && { DEEP: '1' }) }),
});
const all = testFilesOf(['test']);
const parts = isDeep
  ? [nativeTests({ PROPTEST_CASES: '2000', STRESS_ROUNDS: '400' }), filesPart(deepFiles(all))]
  : [...CHECKS, nativeTests({}), filesPart(all)];

/** What was asked for by name, or as files. */
function chosen(): readonly Part[] {
  if (asked.length === 0) return parts;
  const named = parts.filter(({ name }) => asked.includes(name));
  const places = asked.filter((word) => !parts.some(({ name }) => name === word));
  const missing = places.find((place) => !existsSync(place));
  if (missing)
    throw new Error(`${missing} is neither a file nor one of: ${parts.map(({ name }) => name).join(', ')}`);
  return places.length === 0 ? named : [...named, filesPart(testFilesOf(places))];
}

const total = emptyTally();
const times: string[] = [];
for (const { name, run } of chosen()) {
  console.log(`\n── ${name}`);
  const started = performance.now();
  const tally = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`── ${name}: ${tally.passed} passed, ${tally.failed} failed, ${seconds} s`);
  times.push(`${name} ${seconds} s`);
  add(total, tally, name);
}
console.log(`\n${times.join(', ')}`);
if (total.notRun.length > 0) {
  console.log(`\n${total.notRun.length} did not run:`);
  for (const reason of total.notRun) console.log(`  ${reason}`);
}
if (total.failures.length > 0) {
  console.log('\nfailed:');
  for (const failure of total.failures) console.log(`  ${failure}`);
}
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
