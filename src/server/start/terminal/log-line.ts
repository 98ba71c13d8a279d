import { formatMilliseconds } from './words.ts';

/** Fields that every entry has, or that the line already shows. */
const SHOWN = new Set(['level', 'time', 'pid', 'hostname', 'event', 'err', 'note', 'msg']);
/** Longer values are cut; the JSON log has them whole. */
const VALUE_CHARACTERS_MAX = 120;
const LEVEL_WARN = 40;
const LEVEL_ERROR = 50;
const METHOD_COLUMNS = 6;
const ROUTE_COLUMNS = 38;

/** Control characters, with which untrusted text could control the terminal. Line ends of a stack stay. */
const COMMANDS = /(?!\n)\p{Cc}/gu;

type Entry = Readonly<Record<string, unknown>>;

/** One line for a person, from one of the log's JSON. Anything that is not such a line stays as it is. */
export function readableLine(json: string): string {
  let entry: Entry;
  try {
    entry = JSON.parse(json) as Entry;
  } catch {
    return json;
  }
  const time = new Date(Number(entry.time ?? Date.now())).toTimeString().slice(0, 8);
  return `${time}  ${mark(Number(entry.level))}${wordsOf(entry).replace(COMMANDS, '\ufffd')}\n`;
}

function mark(level: number): string {
  if (level >= LEVEL_ERROR) return 'ERROR  ';
  return level >= LEVEL_WARN ? 'warning  ' : '';
}

function wordsOf(entry: Entry): string {
  const { event, note, msg, err } = entry;
  if (event === 'answered') return answered(entry);
  const words = [String(event ?? msg ?? '').replaceAll('_', ' ')];
  for (const [name, value] of Object.entries(entry)) {
    if (SHOWN.has(name) || value === undefined || isEmpty(value)) continue;
    words.push(name === 'ms' ? formatMilliseconds(Number(value)) : `${name}=${short(value)}`);
  }
  if (note !== undefined) words.push(String(note));
  if (err !== undefined) words.push(faultOf(err));
  return words.join('  ');
}

function answered({ method, route, status, code, key, ms }: Entry): string {
  const what = `${String(method).padEnd(METHOD_COLUMNS)} ${String(route).padEnd(ROUTE_COLUMNS)}`;
  return `${String(status)}  ${what} ${formatMilliseconds(Number(ms))}${code === undefined ? '' : `  ${String(code)}`}${key === undefined ? '' : `  key=${short(key)}`}`;
}

/** The whole stack, since the error was unexpected. */
function faultOf(err: unknown): string {
  const { stack, message } = (err ?? {}) as { stack?: string; message?: string };
  return stack ?? message ?? short(err);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function short(value: unknown): string {
  const { message } = value as { message?: unknown };
  const text = typeof value === 'string' ? value : String(message ?? JSON.stringify(value));
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX)}…`;
}
