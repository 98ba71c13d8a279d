import type { ItemsAnswer, ItemTextAnswer } from '@farthing/client';
import { sayNotRead } from '@farthing/protocol/file/not-read';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Answered } from './backend.ts';
import { result, whereOf } from './results.ts';

/** One line a file. */
export function itemListResult({ body, receipt }: Answered<ItemsAnswer>): CallToolResult {
  const items = body.items.map(({ id, name, aliases, media_type, state, pages, duration_s, not_read }) => ({
    id,
    name,
    ...(aliases && { aliases }),
    media_type,
    state,
    ...(pages !== undefined && { pages }),
    ...(duration_s !== undefined && { duration_s }),
    ...(not_read && { not_read }),
  }));
  const lines = items.map(
    ({ id, name, aliases = [], state, pages, duration_s, media_type, not_read = [] }) => {
      const length = duration_s === undefined ? media_type : `${Math.round(duration_s)} s`;
      const size = pages === undefined ? length : `${pages} pages`;
      const unread = not_read.length === 0 ? '' : `; not read: ${not_read.map(sayNotRead).join('; ')}`;
      return `${[`${[name, ...aliases].join(' = ')} (${id})`, size, ...(state === 'searchable' ? [] : [state])].join(', ')}${unread}`;
    },
  );
  if (items.length === 0) lines.push('There are no files.');
  if (body.next !== null) lines.push(`There are more: after "${body.next}".`);
  return result(lines.join('\n'), { items, next: body.next }, receipt);
}

/** The text, with a line for each new place. */
export function itemTextResult({ body, receipt }: Answered<ItemTextAnswer>): CallToolResult {
  const passages = body.passages.map(({ text, locator: { page, page_kind, time_s, heading } }) => ({
    text,
    locator: { page, page_kind, time_s, heading },
  }));
  let place = '';
  const lines = passages.flatMap(({ text, locator }) => {
    const next = whereOf(locator).trim();
    const isNew = next !== '' && next !== place;
    place = next;
    return isNew ? [next, text] : [text];
  });
  if (passages.length === 0) lines.push('There is no text here.');
  if (body.next !== null) lines.push(`There is more: from ${body.next}.`);
  return result(lines.join('\n'), { id: body.id, passages, next: body.next }, receipt);
}
