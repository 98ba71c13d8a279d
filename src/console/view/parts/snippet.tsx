import type { Hit } from '@farthing/client';
import type { ComponentChildren } from 'preact';

/** A passage with the query's words marked, as the server found them. */
export function Snippet({ text, marks = [] }: { text: string; marks?: Hit['highlights'] }) {
  return <span class="snippet">{marked(text, marks)}</span>;
}

export function marked(text: string, marks: Hit['highlights'] = []): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    if (start < at || end > text.length) continue;
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, text.slice(at)];
}

/** A row of a table, each cell below the name of its column. */
export function TableRow({ table: { columns, row } }: { table: NonNullable<Hit['table']> }) {
  return (
    <dl class="table-row">
      {row.map((cell, at) => (
        <div key={at}>
          <dt>{columns[at]}</dt>
          <dd>{cell}</dd>
        </div>
      ))}
    </dl>
  );
}
