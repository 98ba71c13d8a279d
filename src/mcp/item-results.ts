import type { GrepAnswer, ItemsAnswer, ItemTextAnswer, Locator } from '@farthing/client';
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

/** The lines with their numbers, below one for each passage: how `item_read` shows more of it. */
export function grepResult({ body, receipt }: Answered<GrepAnswer>): CallToolResult {
  const { lines, truncated, next: further, latency_ms } = body;
  let place = '';
  const shown = lines.flatMap(({ item, passage, line, text, locator, before = [], after = [] }) => {
    const next = `${item.name}${whereOf(locator)}, ${item.id}, from ${passage}:`;
    const isNew = next !== place;
    place = next;
    const around = (texts: readonly string[], from: number) => texts.map((one, at) => `${from + at}- ${one}`);
    return [
      ...(isNew ? [next] : []),
      ...around(before, line - before.length),
      `${line}: ${text}`,
      ...around(after, line + 1),
    ];
  });
  if (lines.length === 0) shown.push('No line matches.');
  if (truncated) shown.push(`There may be more: after "${further}".`);
  const data = lines.map((line) => dataOf(SHOWN_FIELDS.line, line));
  return result(shown.join('\n'), { lines: data, truncated, next: further, latency_ms }, receipt);
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
