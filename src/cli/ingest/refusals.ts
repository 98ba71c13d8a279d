import { FarthingError } from '@farthing/client';
import { ERRORS, type ErrorCode } from '@farthing/protocol/error';
import { counted } from '@farthing/protocol/figures';
import { clean, clipName, wrapWords } from '../wording/text.ts';
import { pathOfKey } from './files.ts';

interface Refused {
  readonly key: string;
  readonly error: Error;
}

const NAMES_SHOWN = 3;
const NAME_COLUMNS_MAX = 32;
const REASON_LENGTH_MAX = 80;

/** Files that were not taken, by reason, the most common first. @param columns width of the terminal */
export function refusalsText(refused: readonly Refused[], columns = Infinity): string {
  const byReason = new Map<string, Refused[]>();
  for (const file of refused) {
    const reason = reasonOf(file.error);
    byReason.set(reason, [...(byReason.get(reason) ?? []), file]);
  }
  const groups = [...byReason.values()].toSorted((a, b) => b.length - a.length);
  const digits = String(groups[0]?.length ?? 0).length;
  const lines = groups.map((group) => {
    const names = group
      .slice(0, NAMES_SHOWN)
      .map(({ key }) => nameOf(key))
      .join(', ');
    const more = group.length > NAMES_SHOWN ? ` and ${group.length - NAMES_SHOWN} more` : '';
    const head = `  ${String(group.length).padStart(digits)}  `;
    const body = wrapWords(`${whyOf(group)}: ${names}${more}`, columns - 1 - head.length);
    return `${head}${body.join(`\n${' '.repeat(head.length)}`)}\n`;
  });
  return `Not taken: ${counted(refused.length, 'file')}\n${lines.join('')}`;
}

function reasonOf(error: Error): string {
  return error instanceof FarthingError ? error.code : error.message;
}

/** The server's reason for all of them; where reasons differ or are long, that of their code. */
function whyOf(group: readonly Refused[]): string {
  const [first, ...others] = group.map(({ error }) =>
    error instanceof FarthingError ? error.detail : error.message,
  );
  const said = clean(first!).replace(/\.$/, '');
  if (said.length <= REASON_LENGTH_MAX && others.every((other) => other === first)) return said;
  const code = reasonOf(group[0]!.error);
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode][1] : said;
}

export function nameOf(key: string): string {
  return clipName(clean(pathOfKey(key).split('/').at(-1)!), NAME_COLUMNS_MAX);
}
