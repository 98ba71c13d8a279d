import { parseArgs } from 'node:util';
import { nearest } from '@farthing/protocol/nearest';
import {
  type CallOf,
  type CommandSet,
  type CommandSpec,
  firstsOf,
  type OptionSpec,
  type Specs,
  UsageError,
  verbsOf,
} from './command-set.ts';
import { commandHelp, groupHelp } from './help.ts';

/** A help text, or a command with what follows its name. */
export type Asked<S extends Specs> =
  | { readonly help: string; readonly name?: never; readonly args?: never }
  | { readonly help?: never; readonly name: keyof S & string; readonly args: readonly string[] };

/**
 * Parses the words after a program's name. `help`, `--help` or `-h` anywhere before `--` asks for help.
 * @param columns width of the terminal; undefined: there is none
 * @throws UsageError with the nearest name
 */
export function askedOf<S extends Specs>(
  set: CommandSet<S>,
  words: readonly string[],
  columns: number | undefined,
): Asked<S> {
  const before = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  const wantsHelp = before[0] === 'help' || before.some((word) => word === '--help' || word === '-h');
  const named = wantsHelp
    ? before.filter((word, at) => !word.startsWith('-') && (at > 0 || word !== 'help'))
    : words;
  const [first, second] = named;
  if (first === undefined) return { help: set.help(columns) };
  const isGroup = Object.hasOwn(set.groups, first);
  if (isGroup && (second === undefined || second.startsWith('-')))
    return { help: groupHelp(set, first, columns) };
  const name = isGroup ? `${first} ${second}` : first;
  if (!Object.hasOwn(set.specs, name))
    throw isGroup ? unknownVerb(set, first, second!) : unknownCommand(set, first);
  if (wantsHelp) return { help: commandHelp(set, name, columns) };
  return { name, args: named.slice(isGroup ? 2 : 1) };
}

function unknownVerb(set: CommandSet, group: string, verb: string): UsageError {
  const verbs = verbsOf(set, group);
  const named = `${set.program} ${group}`;
  return new UsageError(
    `There is no "${named} ${verb}". ${meant(nearest(verb, verbs), `It is one of: ${verbs.join(', ')}.`, named)}`,
  );
}

function unknownCommand(set: CommandSet, word: string): UsageError {
  const { program, specs, synonyms = {}, others = [] } = set;
  const byVerb = Object.keys(specs).find((name) => name.endsWith(` ${word}`));
  const near = synonyms[word] ?? byVerb ?? nearest(word, [...firstsOf(set), ...others, 'help']);
  return new UsageError(
    `There is no command "${word}". ${meant(near, `${program} --help lists them.`, program)}`,
  );
}

/** @param before text before a name, so that it can be copied */
function meant(near: string | undefined, otherwise: string, before = ''): string {
  return near === undefined ? otherwise : `Did you mean ${`${before} ${near}`.trim()}?`;
}

/** Reads a command's words and options. @throws UsageError that names what is wrong, and what is near */
export function parseCall<S extends Specs, Name extends keyof S & string>(
  { program, specs }: CommandSet<S>,
  name: Name,
  args: readonly string[],
): CallOf<S[Name]> {
  const spec = specs[name]!;
  const { options = {} } = spec;
  const command = `${program} ${name}`;
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([option, { value, short, multiple }]) => [
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
  for (const [option, { value }] of Object.entries(options)) if (value === undefined) values[option] = false;
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (!option) throw unknownOption(token.rawName, command, spec);
    values[token.name] = optionValue(option, token.rawName, token.value, values[token.name]);
  }
  checkWords(command, spec, words);
  return { words, values: values as CallOf<S[Name]>['values'] };
}

function optionValue(
  { value, multiple }: OptionSpec,
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

function unknownOption(rawName: string, command: string, { options = {} }: CommandSpec): UsageError {
  const known = Object.keys(options).map((name) => `--${name}`);
  const near = rawName.startsWith('--') ? nearest(rawName, known) : undefined;
  return new UsageError(
    `"${command}" has no option ${rawName}. ${meant(near, `${command} --help lists its options.`)}`,
  );
}

function checkWords(
  command: string,
  { words: [least, most] = [0, 0], usage = '' }: CommandSpec,
  words: readonly string[],
): void {
  if (words.length >= least && words.length <= most) return;
  const over = words.length > most ? `does not take "${words[most]}"` : 'wants more';
  throw new UsageError(`"${command}" ${over}: ${`${command} ${usage}`.trim()}`);
}
