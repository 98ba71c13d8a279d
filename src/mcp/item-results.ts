import type { ItemsAnswer, ItemTextAnswer, Locator } from '@farthing/client';
import { dataOf } from '@farthing/protocol/schema/facts';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Answered } from './backend.ts';
import { factsLine, namesOf, result, whereOf } from './results.ts';

/** One line a file. */
export function itemListResult({ body, receipt }: Answered<ItemsAnswer>): CallToolResult {
  const items = body.items.map((item) => dataOf(SHOWN_FIELDS.item, item, true));
  const lines = body.items.map(
    (item) => `${namesOf(item)} (${item.id}), ${factsLine(SHOWN_FIELDS.item, item)}`,
  );
  if (items.length === 0) lines.push('There are no files.');
  if (body.next !== null) lines.push(`There are more: after "${body.next}".`);
  return result(lines.join('\n'), { items, next: body.next }, receipt);
}

/** The text, with a line for each new position. */
export function itemTextResult({ body, receipt }: Answered<ItemTextAnswer>): CallToolResult {
  const passages = body.passages.map(({ text, locator }) => ({
    text,
    locator: dataOf(SHOWN_FIELDS.locator, locator) as Locator,
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
