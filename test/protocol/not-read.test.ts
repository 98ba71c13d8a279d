import t from 'tap';
import { addNotRead, sayNotRead } from '../../src/protocol/file/not-read.ts';

t.test('what was not read is one entry for each part and reason', async (t) => {
  const first = { what: 'charts', count: 2, why: 'unsupported' } as const;
  const known = addNotRead([], first, { what: 'pages', why: 'no_text' });
  t.same(
    addNotRead(
      known,
      { ...first, count: 3 },
      { ...first, why: 'limit' },
      { what: 'pages', count: 1, why: 'no_text' },
    ),
    [
      { ...first, count: 5 },
      { what: 'pages', why: 'no_text' },
      { ...first, why: 'limit' },
    ],
  );
  t.equal(sayNotRead(first), '2 × charts and diagrams (this server does not read it)');
});
