import { definitionList, helpColumns } from '../wording/definition-list.ts';
import { wrap } from '../wording/text.ts';
import { type CommandSet, type OptionSpecs, verbsOf } from './command-set.ts';

/** `farthing workspace --help` */
export function groupHelp(set: CommandSet, group: string, columns: number | undefined): string {
  const { program, specs, groups } = set;
  const commands = verbsOf(set, group).map((verb) => {
    const { about, usage = '' } = specs[`${group} ${verb}`]!;
    return [`${program} ${group} ${verb} ${usage}`.trim(), about] as const;
  });
  return paragraphs([
    wrapped(groups[group]!, columns),
    definitionList(commands, columns),
    wrapped(`${program} ${group} COMMAND --help explains one.`, columns),
  ]);
}

/** `farthing search --help` */
export function commandHelp(
  { program, specs }: CommandSet,
  name: string,
  columns: number | undefined,
): string {
  const { about, usage = '', notes = [], options = {}, examples = [] } = specs[name]!;
  const all: OptionSpecs = { ...options, help: { short: 'h', about: 'show this' } };
  const rows = Object.entries(all).map(([option, { value, short, about: what }]) => {
    const long = option.length === 1 ? '' : `--${option}`;
    const names = [short === undefined ? '    ' : `-${short}${long && ', '}`, long].join('');
    return [value === undefined ? names : `${names} ${value}`, what] as const;
  });
  const shown = examples.map(([command, what]) => [`${program} ${command}`, what] as const);
  return paragraphs([
    wrapped(`${program} ${name} ${usage}`.trim(), columns),
    [about, ...notes].map((line) => wrapped(line, columns)).join('\n'),
    ...(shown.length > 0 ? [titled('Examples', shown, columns)] : []),
    titled('Options (defaults in brackets)', rows, columns),
  ]);
}

export function paragraphs(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

export function titled(
  title: string,
  rows: readonly (readonly [string, string])[],
  columns: number | undefined,
): string {
  return `${title}\n${definitionList(rows, columns)}`;
}

export function wrapped(text: string, columns: number | undefined): string {
  return wrap(text, helpColumns(columns)).join('\n');
}
