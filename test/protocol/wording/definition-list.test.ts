import t from 'tap';
import { definitionList } from '../../../src/cli/wording/definition-list.ts';

const LONG = 'search revenue --filter \'{"metadata": {"year": {"gte": 2024}}}\' --name "*.pdf"';

t.test('meanings stand beside their names, in one column', async (t) => {
  const rows = [
    ['-k N', 'results at most'],
    ['--exact', 'prove that nothing better is in the index'],
  ] as const;
  t.equal(
    definitionList(rows, undefined),
    '  -k N     results at most\n  --exact  prove that nothing better is in the index',
  );
});

t.test(
  'a name that would leave no room beside it has its meaning below, and the others keep theirs',
  async (t) => {
    const rows = [
      ['search WORDS', 'by meaning and by words'],
      [LONG, 'in files ingested with --meta year=2024, whatever else they are called'],
    ] as const;
    for (const columns of [80, 100, undefined]) {
      const [first, name, ...meaning] = definitionList(rows, columns).split('\n');
      t.equal(first, '  search WORDS  by meaning and by words');
      t.equal(name, `  ${LONG}`);
      t.ok(meaning.length > 0 && meaning.every((line) => /^ {16}\S/.test(line)), String(columns));
    }
    const narrow = definitionList(rows, 30).split('\n');
    t.equal(narrow[0], '  search WORDS');
    t.ok(narrow.slice(1).some((line) => line.startsWith('      ') && line.length <= 30));
  },
);
