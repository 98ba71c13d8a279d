import { execFileSync } from 'node:child_process';
import { runCommand } from './command.ts';
import { countAsOne, countCargo, judge, type Tally } from './tally.ts';

/** A check or a runner of tests, with a name that can be asked for. */
export interface Part {
  readonly name: string;
  run(): Promise<Tally>;
}

/** A part that is one command. @param count reads its output; undefined where the runner's own summary is missing */
function commandPart(
  name: string,
  command: () => readonly string[],
  count: (output: string, status: number) => Tally | undefined = countAsOne,
  environment: Readonly<Record<string, string>> = {},
): Part {
  const run = async () => {
    const words = command();
    console.log(words.join(' '));
    const print = (piece: Buffer) => process.stdout.write(piece);
    const { output, status } = await runCommand(words, { ...process.env, ...environment }, print);
    return judge(count(output, status), status, output);
  };
  return { name, run };
}

/**
 * `napi build` names its target, and cargo keeps what it builds for a named target apart: without the same name here every
 * package would be compiled a second time.
 */
function cargo(...words: readonly string[]): string[] {
  const [, target] = /^host: (.*)$/m.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))!;
  return [
    'cargo',
    ...words,
    '--manifest-path',
    'native/Cargo.toml',
    '--release',
    '--locked',
    '--target',
    target!,
  ];
}

export const CHECKS: readonly Part[] = [
  commandPart('format and lint', () => ['node_modules/.bin/biome', 'check', '--error-on-warnings', '.']),
  commandPart('types', () => ['node_modules/.bin/tsc', '--noEmit']),
  commandPart('console types', () => ['node_modules/.bin/tsc', '--noEmit', '-p', 'src/console']),
  commandPart('native format', () => 'cargo fmt --manifest-path native/Cargo.toml --all --check'.split(' ')),
  commandPart('native lint', () => [
    ...cargo('clippy', '--workspace', '--all-targets'),
    '--',
    '-D',
    'warnings',
  ]),
];

/** @param cases of each property, where it does not say itself; @param rounds of writers and readers at once */
export const nativeTests = (environment: Readonly<Record<string, string>>): Part =>
  commandPart('native tests', () => cargo('test', '--workspace', '--tests'), countCargo, environment);
