/** What a part of the tests came to. */
export interface Tally {
  passed: number;
  failed: number;
  /** What did not run, and why. */
  notRun: string[];
  /** What failed, each with the first lines of the runner's own report. */
  failures: string[];
}

export const emptyTally = (): Tally => ({ passed: 0, failed: 0, notRun: [], failures: [] });

/** Adds one tally to another. @param under the name that the failures are listed under */
export function add(total: Tally, part: Tally, under: string): void {
  total.passed += part.passed;
  total.failed += part.failed;
  total.notRun.push(...part.notRun);
  total.failures.push(...part.failures.map((failure) => `${under}: ${failure}`));
}

/** Lines of a report that are printed again at the end. */
const REPORTED_LINES = 10;

const lastLines = (output: string): string =>
  output.trimEnd().split('\n').slice(-REPORTED_LINES).join('\n    ');

/**
 * A process that printed no summary has failed, and one that ended with a status has failed at least once.
 * @param counted from its summary; undefined when there was none
 */
export function judge(counted: Tally | undefined, status: number, output: string): Tally {
  const tally = counted ?? { ...emptyTally(), failed: 1 };
  const failed = status !== 0 ? Math.max(1, tally.failed) : tally.failed;
  const failures = failed > 0 && tally.failures.length === 0 ? [lastLines(output)] : tally.failures;
  return { ...tally, failed, failures };
}

/** A check that has no tests of its own counts as one. */
export const countAsOne = (_output: string, status: number): Tally => ({
  ...emptyTally(),
  passed: status === 0 ? 1 : 0,
});

/** Reads what one test file wrote. @returns undefined when it ended before its summary */
export function countTap(output: string): Tally | undefined {
  const summary = [...output.matchAll(/^# \{ total: \d+([^}]*)\}/gm)].at(-1);
  if (!summary) return undefined;
  const part = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(summary[1]!)?.[1] ?? 0);
  const notRun = [...output.matchAll(/^\s*ok \d+ - (.*?) # SKIP ?(.*)$/gim)].map(
    ([, test, why]) => `${test}: ${why || 'no reason given'}`,
  );
  return { passed: part('pass'), failed: part('fail'), notRun, failures: tapFailures(output) };
}

/** Their reports are printed with the file's output. */
const tapFailures = (output: string): string[] =>
  [...output.matchAll(/^ *not ok \d+ - (?!.* # (?:SKIP|TODO))(.*)$/gim)].map(([, name]) => name!);

export function countCargo(output: string): Tally | undefined {
  const results = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
  if (results.length === 0) return undefined;
  const sum = (index: number) => results.reduce((total, result) => total + Number(result[index]), 0);
  const notRun = [...output.matchAll(/^test (\S+) \.\.\. ignored(?:, (.*))?$/gm)].map(
    ([, test, why]) => `${test}: ${why ?? 'no reason given'}`,
  );
  const failures = [...output.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(([, test]) => test!);
  return { passed: sum(1), failed: sum(2), notRun, failures };
}
