import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { builtServer } from '../../scripts/built-server.ts';
import { runCommand } from './command.ts';
import { add, countTap, emptyTally, judge, type Tally } from './tally.ts';

/** For one file, unless TAP_TIMEOUT says otherwise; the test inside it that hangs is told by the file itself, a little earlier. */
const FILE_SECONDS_MAX = '600';
const GRACE_SECONDS = 30;
/** Near enough, for the order alone. */
const BYTES_PER_SECOND = 1_000;
/**
 * Took two minutes and more at full length. Begun last, one of them would run alone at the end. They start several servers and keep the
 * processors busy, so a third of what runs at once is long, while there are short ones: servers that share slots lose their leases beside more of them.
 */
const LONG = [
  'bench/bench-runs',
  'hostile/hostile',
  'deploy/package',
  'client/published-on-chain',
  'server/workspace/disposal/killed',
  'server/ingest/questions',
  'server/start/slot/shared',
  'server/start/slot/objects',
  'payment/crash/crash-cluster',
  'payment/crash/crash-etcd',
  'payment/crash/crash-self',
  'server/http/routes/keys',
  'readers/ocr/pages',
  'console/walk',
].map((name) => `test/${name}.test.ts`);
const LONG_SECONDS = 120;
/** More than processors: some files wait most of their time. */
const JOBS = Number(process.env.JOBS ?? availableParallelism() + 1);
/** Modules as Node compiled them: each server that a test starts loads a thousand. */
const COMPILED = resolve('.build/compile-cache');
/** Keeps what Node makes of TypeScript. */
const STRIPPED = resolve(import.meta.dirname, 'stripped.js');
/** What each file printed, to look it up, and how long it took. */
const PRINTED = '.build/test';
const TIMES = join(PRINTED, 'seconds.json');

/** The built program that reads files, if no source is newer. */
function builtReader(): string | undefined {
  try {
    return join(dirname(builtServer()), 'reader-bootstrap.js');
  } catch {
    return undefined;
  }
}

const isTest = (path: string) => path.endsWith('.test.ts');

/** @param places test files, or folders with any below them */
export function testFilesOf(places: readonly string[]): string[] {
  const files = places.flatMap((place) =>
    statSync(place).isDirectory()
      ? readdirSync(place, { recursive: true, encoding: 'utf8' })
          .filter(isTest)
          .map((name) => join(place, name))
      : [place],
  );
  return [...new Set(files)].sort();
}

/** The files that do more in `make test-deep`. */
export const deepFiles = (files: readonly string[]): string[] =>
  files.filter((file) => /from '[./]*\/rig\/deep\.ts'/.test(readFileSync(file, 'utf8')));

/** Runs each file in a process of its own, two or more at once, and prints a line for each. */
export async function runTestFiles(
  files: readonly string[],
  environmentOf: (file: string) => NodeJS.ProcessEnv,
): Promise<Tally> {
  mkdirSync(PRINTED, { recursive: true });
  const times: Record<string, number> = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {};
  // The longest first, so that none is left alone at the end.
  const guessed = (file: string) =>
    LONG.includes(file) ? LONG_SECONDS : statSync(file).size / BYTES_PER_SECOND;
  const longest = (file: string) => times[file] ?? guessed(file);
  const waiting = files.toSorted((a, b) => longest(b) - longest(a));
  const total = emptyTally();
  const reader = builtReader();
  const environment = (file: string) => ({ ...environmentOf(file), ...(reader && { BUILT_READER: reader }) });
  let longRunning = 0;
  const next = () => {
    const short = waiting.findIndex((file) => !LONG.includes(file));
    const longMax = Math.ceil(JOBS / (short === -1 ? 2 : 3));
    const index = longRunning < longMax ? 0 : short;
    return index === -1 ? undefined : waiting.splice(index, 1)[0];
  };
  const work = async () => {
    for (let file = next(); file; file = next()) {
      const places = LONG.includes(file) ? 1 : 0;
      longRunning += places;
      const began = performance.now();
      add(total, await runTestFile(file, environment(file)), file);
      times[file] = (performance.now() - began) / 1000;
      longRunning -= places;
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));
  writeFileSync(TIMES, JSON.stringify(times));
  return total;
}

async function runTestFile(file: string, environment: NodeJS.ProcessEnv): Promise<Tally> {
  const started = performance.now();
  const env = {
    TAP_TIMEOUT: FILE_SECONDS_MAX,
    NODE_COMPILE_CACHE: COMPILED,
    ORT_DISABLE_TELEMETRY: '1',
    ...environment,
  };
  const { output, status } = await runCommand(
    [process.execPath, '--no-warnings', '--import', STRIPPED, file],
    env,
    (Number(env.TAP_TIMEOUT) + GRACE_SECONDS) * 1000,
  );
  writeFileSync(join(PRINTED, `${file.replaceAll('/', '-')}.tap`), output);
  const tally = judge(countTap(output), status, output);
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(
    `${tally.failed > 0 ? 'FAILED' : 'ok    '} ${seconds} s ${String(tally.passed).padStart(5)} passed  ${file}`,
  );
  if (tally.failed > 0) console.log(output);
  return tally;
}
