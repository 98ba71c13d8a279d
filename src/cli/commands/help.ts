import { padded, widthOf, wrap } from '../wording/text.ts';
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

const COLUMNS_MAX = 100;
/** Where there is no terminal. */
const COLUMNS = 80;
const GAP = 2;
/** Share of a line that names may take. A longer name has its meaning below it. */
const NAMES_SHARE = 0.6;
/** On lines narrower than `COLUMNS`, meanings would be too narrow beside. */
const NAMES_SHARE_NARROW = 0.5;

/** Columns of a help text on a terminal of `columns`; undefined: no terminal. */
function helpColumns(columns: number | undefined): number {
  return Math.min(columns ?? COLUMNS, COLUMNS_MAX);
}

/** Lines of a help text: names on the left, each with its meaning beside it or, without room there, below it. */
function definitionList(
  rows: readonly (readonly [name: string, meaning: string])[],
  columns: number | undefined,
): string {
  const width = helpColumns(columns);
  const room = Math.floor(width * (width < COLUMNS ? NAMES_SHARE_NARROW : NAMES_SHARE));
  const sizes = rows.map(([name]) => widthOf(name) + 2 * GAP);
  const indent = Math.max(3 * GAP, ...sizes.filter((size) => size <= room));
  return rows
    .flatMap(([name, meaning], row) => {
      const lines = wrap(meaning, width - indent).map((line) => `${' '.repeat(indent)}${line}`.trimEnd());
      const label = `${' '.repeat(GAP)}${name}`;
      if (sizes[row]! > indent) return [label, ...lines.filter((line) => line !== '')];
      return [`${padded(label, indent)}${lines[0]!.trimStart()}`.trimEnd(), ...lines.slice(1)];
    })
    .join('\n');
}
