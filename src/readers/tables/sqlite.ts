import type { Block } from '@farthing/protocol/document';
import { errorCode } from '@farthing/protocol/error';
import { contentReader } from '../office/office.ts';
import type { OfficeContent, Report } from '../office/office-content.ts';
import { cellBudget } from '../office/xlsx.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { upTo } from '../reading/up-to.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';
import { tableText } from '../text/table.ts';
import { isSqlite, SqlitePages, type SqliteRow, type SqliteValue } from './sqlite-pages.ts';

const TABLES_MAX = 1_000;
/** Tables of SQLite itself, and of its full-text indexes: copies of what stands elsewhere. */
const INTERNAL = /^sqlite_|_(?:content|data|idx|docsize|config|segments|segdir|stat)$/;

/** The tables of a SQLite database, row by row with the names of their columns. Its text in a log file beside it is not there. */
export const sqlite: MakeReader = (mediaType) =>
  contentReader(mediaType, { sniff: ({ bytes }) => isSqlite(bytes), read: readTables });

interface Table {
  readonly name: string;
  readonly page: number;
  readonly columns: readonly string[];
  /** The column that is the row's number: it is not stored. */
  readonly idColumn: number;
}

function readTables({ bytes }: SourceFile, report: Report): OfficeContent {
  const pages = new SqlitePages(bytes);
  const take = cellBudget();
  const blocks: Block[] = [];
  const tables: Table[] = [];
  for (const row of pages.rows(1)) {
    take(`${row.values[4] ?? ''}`.length);
    tables.push(...tableOf(row, report));
  }
  for (const [index, table] of upTo(TABLES_MAX, tables, 'text', report).entries()) {
    const rows = [[...table.columns]];
    try {
      for (const { id, values, isCut } of pages.rows(table.page)) {
        take(0);
        if (isCut) report('text', 'limit');
        const cells = values.map((value, column) => {
          const text = cellText(value === null && column === table.idColumn ? id : value, report);
          take(text.length);
          return text;
        });
        rows.push(cells);
      }
    } catch (error) {
      if (errorCode(error) !== 'file_corrupt') throw error;
      report('text', 'damaged', 1);
    }
    const text = withoutControls(tableText(rows));
    if (text !== '') blocks.push({ text, page: index + 1, heading: shorten(table.name, 200, report) });
  }
  return { blocks, pictures: [], pages: Math.max(1, tables.length), pageKind: 'sheet' };
}

/** A row of the schema: type, name, table, first page, SQL. */
function tableOf({ values: [type, name, , page, sql] }: SqliteRow, report: Report): Table[] {
  if (type !== 'table' || typeof name !== 'string' || typeof sql !== 'string' || INTERNAL.test(name))
    return [];
  // A virtual table has no pages, and one without row ids is an index.
  if (!page || /\bWITHOUT\s+ROWID\b/i.test(sql)) {
    report('text', 'unsupported', 1);
    return [];
  }
  const columns = columnsOf(sql);
  const idColumn = columns.findIndex(({ rest }) => /^\s*INTEGER\s+PRIMARY\s+KEY\b/i.test(rest));
  return [{ name, page: Number(page), columns: columns.map(({ name }) => name), idColumn }];
}

const COLUMN_NAME = /^\s*(?:"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|'((?:[^']|'')*)'|([^\s(),]+))/;
/** What stands in the list of the columns, but is none. */
const CONSTRAINT = /^\s*(?:CONSTRAINT|PRIMARY\s+KEY|UNIQUE|CHECK|FOREIGN\s+KEY)\b/i;

/** The columns of a `CREATE TABLE`. */
function columnsOf(sql: string): { name: string; rest: string }[] {
  const from = sql.indexOf('(');
  if (from < 0) return [];
  return partsOf(sql.slice(from + 1)).flatMap((part) => {
    const match = CONSTRAINT.test(part) ? null : COLUMN_NAME.exec(part);
    if (!match) return [];
    const name = match.slice(1).find((found) => found !== undefined) ?? '';
    return [{ name, rest: part.slice(match[0].length) }];
  });
}

/** Splits at commas outside brackets, quotes and comments, up to the closing bracket. */
function partsOf(list: string): string[] {
  const tokens =
    /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"[^"]*"?|'[^']*'?|`[^`]*`?|\[[^\]]*\]?|[(),]|[^-/"'`[(),]+|[-/]/g;
  const parts = [''];
  let depth = 0;
  for (const [token] of list.matchAll(tokens)) {
    if (token === ')' && depth === 0) break;
    if (token.startsWith('--') || token.startsWith('/*')) continue;
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts;
}

function cellText(value: SqliteValue, report: Report): string {
  if (value === null) return '';
  if (!(value instanceof Uint8Array)) return `${value}`;
  if (value.length > 0) report('encoded_data', 'unsupported', 1);
  return '';
}
