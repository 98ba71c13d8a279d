import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Runs every check and test of the tree, sums what the runners counted, and lists what failed, and what did not run and why. */

interface Tally {
  passed: number;
  failed: number;
  notRun: string[];
  /** What failed, each with the first lines of the runner's own report. */
  failures: string[];
}

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** Reads the runner's own summary. Undefined: the runner printed none, which is a failure by itself. */
  readonly count: (output: string, status: number) => Tally | undefined;
}

/** A check that has no tests of its own counts as one. */
const asOne = (_output: string, status: number): Tally => ({
  passed: status === 0 ? 1 : 0,
  failed: status === 0 ? 0 : 1,
  notRun: [],
  failures: [],
});

function countTap(output: string): Tally | undefined {
  const summary = [...output.matchAll(/^# \{ total: (\d+)([^}]*)\}/gm)].at(-1);
  if (!summary) return undefined;
  const part = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(summary[2]!)?.[1] ?? 0);
  const notRun = [...output.matchAll(/^\s*ok \d+ - (.*?) # SKIP ?(.*)$/gim)].map(
    ([, test, why]) => `${test}: ${why || 'no reason given'}`,
  );
  return { passed: part('pass'), failed: part('fail'), notRun, failures: tapFailures(output) };
}

/** Lines of a failed assertion's report that are printed again at the end. */
const REPORTED_LINES = 10;

/** The failed assertions, each under the names of the tests around it; tests that failed by those alone are not repeated. */
function tapFailures(output: string): string[] {
  const lines = output.split('\n');
  const names: string[] = [];
  const failures: string[] = [];
  // Depth of the failure that was listed last: the tests around it are closed by a failure of their own.
  let listed = 0;
  for (const [index, line] of lines.entries()) {
    const [, indent = '', opened, failed] = /^( *)(?:# Subtest: (.*)|not ok \d+ - (.*))$/.exec(line) ?? [];
    const depth = indent.length / 4;
    if (opened !== undefined) names.splice(depth, names.length, opened);
    if (failed === undefined || / # (?:SKIP|TODO)/i.test(failed)) continue;
    if (depth < listed) {
      listed = depth;
      continue;
    }
    listed = depth;
    const report = lines.slice(index + 1, index + 1 + REPORTED_LINES);
    const end = report.findIndex((one) => /^ *(?:\.\.\.$|source:)/.test(one));
    failures.push(
      [...names.slice(0, depth), failed, ...report.slice(0, end < 0 ? undefined : end)].join('\n    '),
    );
  }
  return failures;
}

function countCargo(output: string): Tally | undefined {
  const results = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
  if (results.length === 0) return undefined;
  const sum = (index: number) => results.reduce((total, result) => total + Number(result[index]), 0);
  const notRun = [...output.matchAll(/^test (\S+) \.\.\. ignored(?:, (.*))?$/gm)].map(
    ([, test, why]) => `${test}: ${why ?? 'no reason given'}`,
  );
  const failures = [...output.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(([, test]) => test!);
  return { passed: sum(1), failed: sum(2), notRun, failures };
}

const cargo = (...args: string[]) => [
  'cargo',
  ...args,
  '--manifest-path',
  'native/Cargo.toml',
  '--release',
  '--locked',
];
const STEPS: readonly Step[] = [
  { name: 'format and lint', command: ['npx', 'biome', 'check', '--error-on-warnings', '.'], count: asOne },
  { name: 'types', command: ['npx', 'tsc', '--noEmit'], count: asOne },
  { name: 'console types', command: ['npx', 'tsc', '--noEmit', '-p', 'src/console'], count: asOne },
  {
    name: 'native format',
    command: ['cargo', 'fmt', '--manifest-path', 'native/Cargo.toml', '--all', '--check'],
    count: asOne,
  },
  {
    name: 'native lint',
    command: [...cargo('clippy', '--workspace', '--all-targets'), '--', '-D', 'warnings'],
    count: asOne,
  },
  { name: 'native tests', command: cargo('test', '--workspace'), count: countCargo },
  {
    name: 'tests',
    command: ['npx', 'tap', '--reporter=tap', `--jobs=${Math.min(4, availableParallelism())}`],
    count: countTap,
  },
];

function run(command: readonly string[]): Promise<{ output: string; status: number }> {
  return new Promise((resolve) => {
    const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    const pieces: Buffer[] = [];
    const keep = (piece: Buffer) => {
      pieces.push(piece);
      process.stdout.write(piece);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ output: error.message, status: 127 }));
    child.on('close', (status) =>
      resolve({ output: Buffer.concat(pieces).toString('utf8'), status: status ?? 1 }),
    );
  });
}

const total: Tally = { passed: 0, failed: 0, notRun: [], failures: [] };
const only = process.argv.slice(2);
for (const { name, command, count } of STEPS) {
  if (only.length > 0 && !only.includes(name)) continue;
  console.log(`\n── ${name}: ${command.join(' ')}`);
  const started = performance.now();
  const { output, status } = await run(command);
  const tally = count(output, status) ?? { passed: 0, failed: 1, notRun: [], failures: [] };
  if (status !== 0 && tally.failed === 0) tally.failed = 1;
  if (tally.failed > 0 && tally.failures.length === 0)
    tally.failures.push(output.trimEnd().split('\n').slice(-REPORTED_LINES).join('\n    '));
  console.log(
    `── ${name}: ${tally.passed} passed, ${tally.failed} failed, ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
  total.passed += tally.passed;
  total.failed += tally.failed;
  total.notRun.push(...tally.notRun);
  total.failures.push(...tally.failures.map((failure) => `${name}: ${failure}`));
}
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
