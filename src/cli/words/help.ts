import { definitionList, helpColumns } from '../../domain/wording/definition-list.ts';
import { wrap } from '../../domain/wording/text.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  type CommandSpec,
  GROUPS,
  type OptionSpecs,
  SPECS,
  verbsOf,
} from './specs.ts';

const FIRST_STEPS = [
  ['farthing wallet new', 'make the key that pays; play money needs nothing more'],
  ['farthing ingest almanac.pdf', 'make a file searchable'],
  ['farthing search "how do bees talk?"', 'find it'],
  ['farthing workspace create', 'or rent a private index: files and searches are included'],
] as const;

const EXIT_CODES = [
  ['0', 'done'],
  ['1', 'failed'],
  ['2', 'wrong use, or no terminal to confirm a price on'],
  ['3', 'refused by the server'],
  ['4', 'not paid: budget, price, declined, refused'],
  ['5', 'server unreachable, or its answer lost'],
  ['6', 'some files not taken'],
  ['130', 'interrupted'],
] as const;

/** `farthing --help`: what a person does first, then the rest. */
export function mainHelp(columns: number | undefined): string {
  const firsts = [...new Set(COMMAND_NAMES.map((name) => name.split(' ')[0]!))];
  const commands = firsts.map(
    (first) => [first, GROUPS[first] ?? SPECS[first as CommandName].about] as const,
  );
  return paragraphs([
    wrapped('Search your own files. Pay by the call, or rent a workspace.', columns),
    titled('First steps', FIRST_STEPS, columns),
    titled(
      'Commands',
      [
        ...commands,
        ['serve', 'Start a server here, with its data in ./data.'],
        ['admin', 'The operator’s commands: farthing admin --help.'],
      ],
      columns,
    ),
    wrapped('farthing COMMAND --help explains one. farthing --version says which this is.', columns),
    titled('Exit codes', EXIT_CODES, columns),
  ]);
}

/** `farthing workspace --help` */
export function groupHelp(group: string, columns: number | undefined): string {
  const commands = verbsOf(group).map((verb) => {
    const { about, usage }: CommandSpec = SPECS[`${group} ${verb}` as CommandName];
    return [`farthing ${group} ${verb} ${usage}`.trim(), about] as const;
  });
  return paragraphs([
    wrapped(GROUPS[group]!, columns),
    definitionList(commands, columns),
    wrapped(`farthing ${group} COMMAND --help lists its options.`, columns),
  ]);
}

/** `farthing search --help` */
export function commandHelp(name: CommandName, columns: number | undefined): string {
  const { about, usage = '', notes = [], options, examples }: CommandSpec = SPECS[name];
  const all: OptionSpecs = { ...options, help: { short: 'h', about: 'show this' } };
  const rows = Object.entries(all).map(([option, { value, short, about: what }]) => {
    const long = option.length === 1 ? '' : `--${option}`;
    const names = [short === undefined ? '    ' : `-${short}${long && ', '}`, long].join('');
    return [value === undefined ? names : `${names} ${value}`, what] as const;
  });
  const shown = examples.map(([command, what]) => [`farthing ${command}`, what] as const);
  return paragraphs([
    wrapped(`farthing ${`${name} ${usage}`.trim()}`, columns),
    [about, ...notes].map((line) => wrapped(line, columns)).join('\n'),
    titled('Examples', shown, columns),
    titled('Options (defaults in brackets)', rows, columns),
  ]);
}

function paragraphs(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

function titled(
  title: string,
  rows: readonly (readonly [string, string])[],
  columns: number | undefined,
): string {
  return `${title}\n${definitionList(rows, columns)}`;
}

function wrapped(text: string, columns: number | undefined): string {
  return wrap(text, helpColumns(columns)).join('\n');
}
