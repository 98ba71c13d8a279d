import { bytesText, counted, usdText } from '../figures.ts';

/** How people and models see the fields of an answer: each field's schema says it, and each surface has one renderer. */

/** `line`: in a model's text; `data`: in its data, `list` in that of a list; `terminal`: a row or note of the command line; `page`: of the console. */
type Surface = 'line' | 'data' | 'list' | 'terminal' | 'page';

/** Kinds of values. */
type Unit =
  | 'text'
  | 'share'
  | 'count'
  | 'counted'
  | 'seconds'
  | 'duration'
  | 'median'
  | 'time'
  | 'bytes'
  | 'usd'
  | 'moments'
  | 'not_read';

/** How a field is shown. */
export interface Shown {
  readonly on: readonly Surface[];
  /** Default: as it is. */
  readonly as?: Unit;
  /** Its name in a row, or the word beside its figure. */
  readonly label?: string;
  /** Noun of the count: singular, and the plural if it is not one with an s. */
  readonly noun?: readonly [one: string, several?: string];
  /** Behind its value: texts with other fields of the record, such as ` of {limit}`. Without the field there is no text. */
  readonly beside?: readonly string[];
  /** Tooltip. */
  readonly title?: string;
  /** The value that goes without saying in texts. */
  readonly usual?: unknown;
  /** Elements of a list at most. */
  readonly most?: number;
}

export interface ShownField extends Shown {
  readonly name: string;
  /** Those of the object or the objects that it holds. */
  readonly fields?: readonly ShownField[];
}

/** A field with its value in words. */
export interface Fact {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly beside: string;
  readonly title?: string | undefined;
}

/** The words of one surface for each kind of value; undefined: nothing to say. */
export type Voice = {
  // biome-ignore lint/suspicious/noExplicitAny: the schema says of which type a value is
  readonly [U in Unit]?: (value: any, field: ShownField) => string | undefined;
};

/** Words that a surface has unless it has its own. */
const PLAIN: Voice = {
  share: (share: number, { name }) => `${name} ${share.toFixed(2)}`,
  count: (count: number) => count.toLocaleString('en-US'),
  counted: (count: number, { noun }) => counted(count, noun?.[0] ?? '', noun?.[1]),
  seconds: (seconds: number) => `${Math.round(seconds)} s`,
  median: ({ p50 }: { readonly p50: number | null }) => (p50 === null ? undefined : `${p50.toFixed(1)} ms`),
  bytes: bytesText,
  usd: usdText,
};

/** The fields of a record that a surface shows, in words and in the order of their schema. */
export function factsOf(
  fields: readonly ShownField[],
  record: object,
  surface: Surface,
  voice: Voice,
): readonly Fact[] {
  const values = record as Readonly<Record<string, unknown>>;
  const say = (field: ShownField): string | undefined => {
    const value = values[field.name];
    if (value === undefined || value === null || value === field.usual) return undefined;
    const unit = field.noun ? 'counted' : (field.as ?? 'text');
    const words = voice[unit] ?? PLAIN[unit];
    return words ? words(value, field) : String(value);
  };
  return fields
    .filter(({ on }) => on.includes(surface))
    .flatMap((field) => {
      const { name, label = name, as, fields: inner, beside = [], title } = field;
      if (inner && !as) return factsOf(inner, (values[name] ?? {}) as object, surface, voice);
      const value = say(field);
      if (value === undefined) return [];
      const others = beside.map((text) => {
        const [place, other] = /\{(\w+)\}/.exec(text)!;
        const said = say(fields.find((each) => each.name === other)!);
        return said === undefined ? '' : text.replace(place, said);
      });
      return [{ name, label, value, beside: others.join(''), title }];
    });
}

/** The fields of a record that a model's data has, shares with three decimals. @param isListed whether the record is one of a list */
export function dataOf(fields: readonly ShownField[], record: object, isListed = false): object {
  const values = record as Readonly<Record<string, unknown>>;
  const given = fields.filter(({ on }) => on.includes('data') || (isListed && on.includes('list')));
  return Object.fromEntries(given.map((field) => [field.name, dataValue(field, values[field.name])]));
}

function dataValue({ as, fields, most }: ShownField, value: unknown): unknown {
  if (Array.isArray(value))
    return value.slice(0, most).map((each) => (fields ? dataOf(fields, each as object) : each));
  if (as === 'share' && typeof value === 'number') return Number(value.toFixed(3));
  return fields && value ? dataOf(fields, value as object) : value;
}
