import { isUtf8 } from 'node:buffer';
import { type FileMetaData, parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { contentReader } from '../office/office.ts';
import type { OfficeContent, Report } from '../office/office-content.ts';
import { cellBudget } from '../office/xlsx.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { upTo } from '../reading/up-to.ts';
import { withoutControls } from '../text/charset.ts';
import { tableText } from '../text/table.ts';

const MARK = 'PAR1';
const PROBE_BYTES = 1024;
const COLUMNS_MAX = 1_000;
/** Rows that are decoded at a time. */
const ROWS_AT_ONCE = 10_000;
/** Bytes that a group of rows says to unfold to: all of it is in memory together. */
const GROUP_BYTES_MAX = 256 * 2 ** 20;
const ROWS_MAX = 2_000_000;

/** The rows of an Apache Parquet file with the names of their columns; nested values as JSON. */
export const parquet: MakeReader = (mediaType) =>
  contentReader(mediaType, { sniff: ({ bytes }) => isParquet(bytes), read: readParquet });

/** One that is cut off has no mark at its end, but no text has a zero. */
function isParquet(bytes: Uint8Array): boolean {
  const mark = (part: Uint8Array): boolean => Buffer.from(part).toString('latin1') === MARK;
  return (
    mark(bytes.subarray(0, 4)) && (mark(bytes.subarray(-4)) || bytes.subarray(0, PROBE_BYTES).includes(0))
  );
}

async function readParquet({ bytes }: SourceFile, report: Report): Promise<OfficeContent> {
  const buffer = new Uint8Array(bytes).buffer;
  const file = {
    byteLength: buffer.byteLength,
    slice: (start: number, end?: number) => buffer.slice(start, end),
  };
  const metadata = metadataOf(buffer);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const count = checkedRows(metadata);
  const taken = [...upTo(COLUMNS_MAX, columns, 'text', report)];
  const take = cellBudget();
  const rows: string[][] = [taken];
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    const range = { rowStart: from, rowEnd: Math.min(count, from + ROWS_AT_ONCE) };
    const read = await parquetReadObjects({
      file,
      metadata,
      compressors,
      columns: taken,
      utf8: false,
      ...range,
    }).catch(() => {
      throw corrupt('its rows cannot be read');
    });
    for (const row of read) {
      const cells = taken.map((column) => {
        const text = cellText(row[column], report);
        take(text.length);
        return text;
      });
      rows.push(cells);
    }
  }
  const text = withoutControls(tableText(rows));
  return { blocks: text === '' ? [] : [{ text }], pictures: [] };
}

function metadataOf(buffer: ArrayBuffer): FileMetaData {
  try {
    return parquetMetadata(buffer);
  } catch {
    throw corrupt('its description of itself cannot be read');
  }
}

/** @throws document_too_large */
function checkedRows({ num_rows, row_groups }: FileMetaData): number {
  for (const group of row_groups) {
    const unfolded = group.columns.reduce(
      (sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0),
      0,
    );
    if (unfolded > GROUP_BYTES_MAX)
      throw tooLarge(`Send Parquet files whose groups of rows have at most ${GROUP_BYTES_MAX} bytes.`, {
        bytes: unfolded,
        limit_bytes: GROUP_BYTES_MAX,
      });
  }
  if (num_rows > ROWS_MAX)
    throw tooLarge(`Send tables of at most ${ROWS_MAX} rows.`, { limit_rows: ROWS_MAX });
  return Number(num_rows);
}

function cellText(value: unknown, report: Report): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date)
    // A day is a moment without a time.
    return Number.isNaN(value.getTime()) ? '' : value.toISOString().replace('T00:00:00.000Z', '');
  if (value instanceof Uint8Array) {
    // Older programs do not say that bytes are text.
    const text = isUtf8(value) ? Buffer.from(value).toString() : undefined;
    if (text !== undefined && withoutControls(text) === text) return text;
    if (value.length > 0) report('encoded_data', 'unsupported', 1);
    return '';
  }
  if (typeof value !== 'object') return `${value}`;
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner === 'bigint') return `${inner}`;
    if (!(inner instanceof Uint8Array)) return inner;
    report('encoded_data', 'unsupported', 1);
    return undefined;
  });
}
