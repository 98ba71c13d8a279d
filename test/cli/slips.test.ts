import t from 'tap';
import { Agent } from './cli-agent.ts';

const agent = new Agent(t.testdir({}), 'http://127.0.0.1:1');

t.test('a slip is one line with the nearest name', async (t) => {
  const cases: [string[], RegExp][] = [
    [['serach', 'gulls'], /Did you mean farthing search\?$/],
    [['dispose'], /Did you mean farthing workspace dispose\?$/],
    [['upload', 'x'], /Did you mean farthing ingest\?$/],
    [['workspace', 'craete'], /Did you mean farthing workspace create\?$/],
    [['ingest', '--recusive', 'x'], /Did you mean --recursive\?$/],
    [['search', 'x', '-k', '5000'], /1 to 1000/],
    [['search', 'x', '--filter', '{"nme": "x"}'], /Did you mean name\?$/],
    [['search', 'x', '--budget', 'lots'], /"lots"/],
    [['ingest'], /farthing ingest FILES…$/],
  ];
  for (const [words, line] of cases) {
    const { code, out, err } = await agent.run(words);
    t.same([code, out, err.split('\n').length], [2, '', 2], words.join(' '));
    t.match(err.trim(), line);
  }
});

t.test('what follows -- is no option', async (t) => {
  t.match(await agent.run(['ingest', '--', '--help']), { code: 2, err: 'There is no --help.\n' });
});

t.test('the help begins with what a person does first, and fits into any terminal', async (t) => {
  for (const words of [['--help'], ['help'], [], ['-h']]) {
    const { code, out } = await agent.run(words);
    t.equal(code, 0);
    t.match(out, /First steps\n {2}farthing wallet new .*\n(.*\n)?.*ingest .*\n.*search /);
    t.ok(out.split('\n').every((line) => line.length <= 80));
  }
  t.match(await agent.run(['workspace']), { code: 0, out: /farthing workspace dispose \[ID\]/ });
});
