import { counted } from '@farthing/protocol/figures';
import { type NotRead, sayNotRead } from '@farthing/protocol/file/not-read';
import { wrapWords } from '../wording/text.ts';
import { nameOf } from './refusals.ts';

const NAMES_SHOWN = 3;

/** The unread parts of searchable files, by part and reason. @param columns width of the terminal */
export function unreadText(files: ReadonlyMap<string, readonly NotRead[]>, columns = Infinity): string {
  const byPart = new Map<string, string[]>();
  for (const [key, parts] of files)
    for (const { what, why } of parts) {
      const said = sayNotRead({ what, why });
      byPart.set(said, [...(byPart.get(said) ?? []), nameOf(key)]);
    }
  const lines = [...byPart].map(([said, names]) => {
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
    const line = `${said}: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
    return `  ${wrapWords(line, columns - 3).join('\n  ')}\n`;
  });
  return lines.length === 0 ? '' : `Not read of ${counted(files.size, 'file')}:\n${lines.join('')}`;
}
