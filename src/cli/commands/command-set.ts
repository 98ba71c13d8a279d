/** One option of a command. */
export interface OptionSpec {
  /** Name of its value in the help; absent: a switch. */
  readonly value?: string;
  readonly short?: string;
  /** May be given more than once. */
  readonly multiple?: true;
  readonly about: string;
}
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** A command's syntax, for its help, its completion and its parser. */
export interface CommandSpec {
  readonly about: string;
  /** Arguments after its name, besides options. Absent: none. */
  readonly usage?: string;
  /** Fewest and most words. Absent: none. */
  readonly words?: readonly [least: number, most: number];
  readonly options?: OptionSpecs;
  /** Details that `about` leaves out, a line each. */
  readonly notes?: readonly string[];
  readonly examples?: readonly (readonly [command: string, what: string])[];
}

/** Commands by their names of one or two words, in the order of the help. */
export type Specs = Readonly<Record<string, CommandSpec>>;

/** The commands of one program. */
export interface CommandSet<S extends Specs = Specs> {
  /** The program's name, typed before a command's. */
  readonly program: string;
  readonly specs: S;
  /** Descriptions of groups of two-word commands, by the first word. */
  readonly groups: Readonly<Record<string, string>>;
  /** Aliases of commands elsewhere. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** Further first words, which are handled elsewhere. */
  readonly others?: readonly string[];
  /** The help of all. @param columns width of the terminal; undefined: there is none */
  readonly help: (columns: number | undefined) => string;
}

type ValueOf<Option extends OptionSpec> = Option extends { readonly multiple: true }
  ? readonly string[] | undefined
  : Option extends { readonly value: string }
    ? string | undefined
    : boolean;
type OptionsOf<Spec extends CommandSpec> = Spec extends {
  readonly options: infer Options extends OptionSpecs;
}
  ? Options
  : Record<never, OptionSpec>;

/** A command as it was called. */
export interface CallOf<Spec extends CommandSpec> {
  readonly words: readonly string[];
  /** Values of its options: text, a list of texts, or whether a switch was given. */
  readonly values: {
    readonly [Option in keyof OptionsOf<Spec>]: ValueOf<OptionsOf<Spec>[Option] & OptionSpec>;
  };
}

/** Wrong use of a command, explained in one line. */
export class UsageError extends Error {}

/** First words of the commands, in the order of the help. */
export function firstsOf({ specs }: CommandSet): string[] {
  return [...new Set(Object.keys(specs).map((name) => name.split(' ')[0]!))];
}

/** The second words of a group's commands. */
export function verbsOf({ specs }: CommandSet, group: string): string[] {
  return Object.keys(specs)
    .filter((name) => name.startsWith(`${group} `))
    .map((name) => name.slice(group.length + 1));
}
