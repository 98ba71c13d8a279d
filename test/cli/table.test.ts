import t from 'tap';
import { progressBar } from '../../src/cli/terminal/progress.ts';
import { formatTable, place } from '../../src/cli/terminal/table.ts';

t.test('a table is aligned, cut at the terminal’s edge, and moves no cursor', async (t) => {
  const text = formatTable(
    ['', 'item', 'snippet'],
    [['1', 'größe.txt', `\u001b[2Jred ${'x'.repeat(80)}`]],
    40,
  );
  const [head, row] = text.split('\n');
  t.equal(head, '   item       snippet');
  t.equal([...row!].length, 40);
  t.ok(row!.endsWith('…'));
  t.notOk(text.includes('\u001b'));
});

t.test('a place is a page or a time', async (t) => {
  t.equal(place({ page: 3 }), 'p. 3');
  t.equal(place({ time_s: 61.7 }), '1:01');
  t.equal(place({}), '');
});

t.test('a bar keeps its length', async (t) => {
  t.equal(progressBar(-1, 'x').length, progressBar(2, 'x').length);
  t.match(progressBar(0.5, '1/2'), /█░.* 1\/2$/);
});
