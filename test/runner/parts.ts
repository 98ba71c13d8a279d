import { cargo } from '../../scripts/cargo.ts';
import { runCommand } from './command.ts';
import { countAsOne, countCargo, judge, type Tally } from './tally.ts';
import { runTestFiles } from './test-files.ts';

/** A check or a runner of tests, with a name that can be asked for. */
export interface Part {
  readonly name: string;
  run(): Promise<Tally>;
}

/** Compilers would take the processors from servers under test, whose own background work is as nice. */
const BEHIND_TESTS = ['nice', '-n', '10'];

type Count = (output: string, status: number) => Tally | undefined;

/** One command, whose output is printed when it fails. @param words asked for when it runs */
function commandPart(name: string, words: () => readonly string[], count: Count, added: object = {}): Part {
  const run = async () => {
    const { output, status } = await runCommand([...BEHIND_TESTS, ...words()], { ...process.env, ...added });
    const tally = judge(count(output, status), status, output);
    if (tally.failed > 0) console.log(output);
    return tally;
  };
  return { name, run };
}

const tool = (name: string, ...words: readonly string[]) => [`node_modules/.bin/${name}`, ...words];
/** What was checked before and has not changed since is not checked again. */
const types = (name: string, ...words: readonly string[]) =>
  tool('tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', `.build/${name}.tsbuildinfo`, ...words);

export const CHECKS: readonly Part[] = [
  // By folders: tests that run beside it make and remove others in .tap.
  commandPart(
    'format and lint',
    () => tool('biome', 'check', '--error-on-warnings', 'src', 'scripts', 'test', 'bench', 'examples'),
    countAsOne,
  ),
  commandPart('types', () => tool('tsc', '-b'), countAsOne),
  commandPart('console types', () => types('console', '-p', 'src/console'), countAsOne),
  commandPart(
    'native format',
    () => ['cargo', 'fmt', '--manifest-path', 'native/Cargo.toml', '--all', '--check'],
    countAsOne,
  ),
  commandPart('native lint', () => cargo('clippy', '--all-targets', '--', '-D', 'warnings'), countAsOne),
];

/** @param added to the environment: PROPTEST_CASES, STRESS_ROUNDS */
export const nativeTests = (added: object = {}): Part =>
  commandPart('native tests', () => cargo('test', '--tests'), countCargo, added);

/**
 * @param added to the environment: DEEP
 * @param inDepth those that it is added for; absent: all
 */
export const testsIn = (
  files: readonly string[],
  added: object = {},
  inDepth: readonly string[] = files,
): Part => ({
  name: 'tests',
  run: () => {
    const those = new Set(inDepth);
    return runTestFiles(files, (file) => ({ ...process.env, ...(those.has(file) ? added : {}) }));
  },
});
