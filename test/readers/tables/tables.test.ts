import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readBytes } from '../../rig/readers.ts';

const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../reports/other', name));
const PAGE = 512;

/** A database of pages of 512 bytes. `pages`: each a b-tree page's bytes, the first behind the header. */
function database(...pages: readonly Buffer[]): Buffer {
  const bytes = Buffer.alloc(PAGE * pages.length);
  bytes.write('SQLite format 3\0', 'latin1');
  bytes.writeUInt16BE(PAGE, 16);
  bytes.writeUInt32BE(1, 56);
  for (const [index, page] of pages.entries()) page.copy(bytes, index * PAGE + (index === 0 ? 100 : 0));
  return bytes;
}

/** A leaf whose cells all stand at one place. */
function leaf(count: number, at: number, cell: Buffer, headerAt = 0): Buffer {
  const page = Buffer.alloc(PAGE - headerAt);
  page[0] = 0x0d;
  page.writeUInt16BE(count, 3);
  for (let index = 0; index < count; index++) page.writeUInt16BE(at, 8 + 2 * index);
  cell.copy(page, at - headerAt);
  return page;
}

/** A cell with texts of less than 58 bytes, of the row 1. */
function cell(values: readonly (string | number)[]): Buffer {
  const head = values.map((value) => (typeof value === 'string' ? 13 + 2 * value.length : 1));
  const types = head.flatMap((type) => (type < 128 ? [type] : [0x80 | (type >> 7), type & 0x7f]));
  const payload = Buffer.concat([
    Buffer.from([types.length + 1, ...types]),
    ...values.map((value) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from([value]))),
  ]);
  return Buffer.concat([Buffer.from([payload.length, 1]), payload]);
}

const schema = (page: number, sql = 'CREATE TABLE t (a, b)') =>
  leaf(1, 300, cell(['table', 't', 't', page, sql]), 100);

t.test('a table of a database that is made by hand is read', async (t) => {
  const { blocks } = await readBytes(database(schema(2), leaf(1, 300, cell(['Skarvik', 'lanterns']))));
  t.match(blocks, [{ heading: 't', page: 1, text: '| a | b\n| a: Skarvik | b: lanterns' }]);
});

t.test('circles, lies about lengths and pages that are not there end as damage, and are told', async (t) => {
  const inner = Buffer.alloc(PAGE);
  inner[0] = 0x05;
  inner.writeUInt32BE(2, 8);
  const far = Buffer.from(inner);
  far.writeUInt32BE(0xffffffff, 8);
  const overflowing = Buffer.alloc(20);
  // 100,000 bytes, of which some are on the page itself.
  overflowing.set([0x86, 0x8d, 0x20, 1, 2, 13]);
  for (const [name, page] of Object.entries({
    'a page that leads to itself': inner,
    'a page beyond the file': far,
    'a cell beyond its page': leaf(1, 511, Buffer.alloc(0)),
    'more cells than fit': leaf(200, 300, cell(['a'])),
    'a text that is longer than the file': leaf(1, 300, overflowing),
  })) {
    const read = await readBytes(database(schema(2), page));
    t.same(read.notRead, [{ what: 'text', count: 1, why: 'damaged' }], name);
  }
  await t.rejects(readBytes(database(Buffer.alloc(PAGE - 100))), { code: 'file_corrupt' });
  await t.rejects(readBytes(Buffer.from('SQLite format 3\0')), { code: 'file_corrupt' });
});

t.test('a database cut off anywhere is read as far as it goes, or refused', async (t) => {
  const whole = fixture('ledger.sqlite');
  for (let length = 16; length < whole.length; length += 97) {
    const outcome = await readBytes(whole.subarray(0, length)).catch((error) => error.code);
    t.ok(typeof outcome === 'object' || ['file_corrupt', 'file_empty'].includes(outcome), `${length}`);
  }
});

t.test('a Parquet file that is damaged anywhere is read, or refused', async (t) => {
  const whole = fixture('depots.parquet');
  await t.rejects(readBytes(whole.subarray(0, 1200)), { code: 'file_corrupt' });
  for (let at = 4; at < whole.length; at += 23) {
    const damaged = Buffer.from(whole).fill(0xff, at, Math.min(whole.length, at + 40));
    const outcome = await readBytes(damaged).catch((error) => error.code);
    t.ok(
      typeof outcome === 'object' || /^(file_(corrupt|empty)|document_too_large)$/.test(outcome),
      `${at}: ${outcome}`,
    );
  }
});

t.test('a Parquet file that says to unfold to too much is refused before it is unfolded', async (t) => {
  // 300 texts of a MiB.
  await t.rejects(readBytes(fixture('unfolding.parquet')), { code: 'document_too_large' });
});
