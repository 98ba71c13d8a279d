import t from 'tap';
import {
  DRAIN_ROWS,
  KNOWN_ROWS,
  NODE_ROWS,
  OWNER_ROWS,
  RowMalformedError,
} from '../../../src/cluster/members/node-rows.ts';

const NODE = {
  url: 'http://10.0.0.1:8402',
  version: '0.1.0',
  weight: 1,
  since: '2030-01-01T00:00:00Z',
  ready: true,
};

t.test('a row is read as it was written, whatever its name', async (t) => {
  for (const name of ['n1', 'a/b', '0']) {
    const key = NODE_ROWS.key('c', name);
    t.equal(NODE_ROWS.name('c', key), name);
    t.same(NODE_ROWS.parse(key, NODE_ROWS.format(NODE)), NODE);
  }
});

t.test('the range of a kind has its rows alone, of its cluster alone', async (t) => {
  const { from, to } = NODE_ROWS.range('c');
  const has = (key: string) => key >= from && key < to;
  t.ok(has(NODE_ROWS.key('c', 'n1')));
  t.ok(has(NODE_ROWS.key('c', '\u{10ffff}')));
  for (const kind of [KNOWN_ROWS, DRAIN_ROWS, OWNER_ROWS]) t.notOk(has(kind.key('c', 'n1')));
  for (const cluster of ['cc', 'b', 'd']) t.notOk(has(NODE_ROWS.key(cluster, 'n1')));
});

t.test(
  'what a newer Farthing has added to a row is no error, and what it lacks is one with its key',
  async (t) => {
    const key = NODE_ROWS.key('c', 'n1');
    t.match(NODE_ROWS.parse(key, Buffer.from(JSON.stringify({ ...NODE, zone: 'a' }))), NODE);
    for (const value of ['', '{', 'null', '{}', JSON.stringify({ ...NODE, weight: '1' })])
      t.throws(
        () => NODE_ROWS.parse(key, Buffer.from(value)),
        new RowMalformedError(`${key} is not what it should be`),
      );
  },
);
