import { parseArgs } from 'node:util';
import { nearest } from '../../domain/nearest.ts';
import { UsageError } from '../terminal/io.ts';
import {
  type Call,
  COMMAND_NAMES,
  type CommandName,
  type CommandSpec,
  GROUPS,
  SPECS,
  verbsOf,
} from './specs.ts';

/** Which help is asked for: of a command, of a group of commands, or of all. */
export type Asked =
  | {
      readonly kind: 'command';
      readonly name: CommandName;
      readonly rest: readonly string[];
      readonly help?: true;
    }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'help' };

/** Former names, and words that stand for others elsewhere. */
const SYNONYMS: Readonly<Record<string, string>> = {
  upload: 'ingest',
  add: 'ingest',
  index: 'ingest',
  find: 'search',
  query: 'search',
};

/** The command that the first words name. @throws UsageError with the nearest name */
export function commandOf(words: readonly string[]): Asked {
  const [first = 'help', second, ...rest] = words;
  if (first === 'help') {
    if (second === undefined) return { kind: 'help' };
    const topic = commandOf([second, ...rest]);
    return topic.kind === 'command' ? { ...topic, help: true } : topic;
  }
  if (isCommand(first)) return { kind: 'command', name: first, rest: words.slice(1) };
  if (Object.hasOwn(GROUPS, first)) {
    if (second === undefined || second.startsWith('-')) return { kind: 'group', group: first };
    const name = `${first} ${second}`;
    if (isCommand(name)) return { kind: 'command', name, rest };
    const verbs = verbsOf(first);
    throw new UsageError(
      `There is no "farthing ${name}". ${meant(nearest(second, verbs), `It is one of: ${verbs.join(', ')}.`, `farthing ${first} `)}`,
    );
  }
  throw unknownCommand(first);
}

function unknownCommand(word: string): UsageError {
  const firsts = [...new Set(COMMAND_NAMES.map((name) => name.split(' ')[0]!)), 'serve', 'admin', 'help'];
  const byVerb = COMMAND_NAMES.find((name) => name.endsWith(` ${word}`));
  const near = SYNONYMS[word] ?? byVerb ?? nearest(word, firsts);
  return new UsageError(
    `There is no command "${word}". ${meant(near, 'farthing --help lists them.', 'farthing ')}`,
  );
}

/** @param before what stands before a name, so that it can be copied */
function meant(near: string | undefined, otherwise: string, before = ''): string {
  return near === undefined ? otherwise : `Did you mean ${before}${near}?`;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(SPECS, name);
}

/** Reads a command's words and options. @throws UsageError that names what is wrong, and what is near */
export function parseCall<Name extends CommandName>(name: Name, args: readonly string[]): Call<Name> {
  const spec: CommandSpec = SPECS[name];
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(spec.options).map(([option, { value, short, multiple }]) => [
        option,
        {
          type: value === undefined ? ('boolean' as const) : ('string' as const),
          ...(short !== undefined && { short }),
          ...(multiple && { multiple }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const values: Record<string, boolean | string | string[] | undefined> = {};
  for (const [option, { value }] of Object.entries(spec.options))
    if (value === undefined) values[option] = false;
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(spec.options, token.name) ? spec.options[token.name] : undefined;
    if (!option) throw unknownOption(token.rawName, name, spec);
    values[token.name] = optionValue(option, token.rawName, token.value, values[token.name]);
  }
  checkWords(name, spec, words);
  return { words, values: values as Call<Name>['values'] };
}

function optionValue(
  { value, multiple }: CommandSpec['options'][string],
  rawName: string,
  text: string | undefined,
  before: unknown,
): string | string[] | boolean {
  if (value === undefined) {
    if (text !== undefined) throw new UsageError(`${rawName} takes no value.`);
    return true;
  }
  // Node takes what follows for the value even if it looks like an option, which it never is here.
  if (text === undefined || /^-[^\d.]/.test(text))
    throw new UsageError(`${rawName} wants a value: ${rawName} ${value}.`);
  return multiple ? [...((before as string[] | undefined) ?? []), text] : text;
}

function unknownOption(rawName: string, command: CommandName, { options }: CommandSpec): UsageError {
  const known = Object.entries(options).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  const near = rawName.startsWith('--')
    ? nearest(
        rawName,
        known.filter((name) => name.startsWith('--')),
      )
    : undefined;
  return new UsageError(
    `"farthing ${command}" has no option ${rawName}. ${meant(near, `farthing ${command} --help lists its options.`)}`,
  );
}

function checkWords(
  name: CommandName,
  { words: [least, most] = [0, 0], usage = '' }: CommandSpec,
  words: readonly string[],
): void {
  if (words.length >= least && words.length <= most) return;
  const over = words.length > most ? `does not take "${words[most]}"` : 'wants more';
  throw new UsageError(`"farthing ${name}" ${over}: farthing ${`${name} ${usage}`.trim()}`);
}
