import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';
import type { CommandSpec } from '../../src/cli/commands/command-set.ts';
import { SPECS } from '../../src/cli/words/specs.ts';
import { nearest } from '../../src/protocol/nearest.ts';
import { VERSION } from '../../src/protocol/version.ts';
import { Agent } from './cli-agent.ts';

const agent = new Agent(t.testdir({}), 'http://127.0.0.1:1');

t.test('a slip is one line with the nearest name', async (t) => {
  const cases: [string[], string][] = [
    [['serach', 'gulls'], 'There is no command "serach". Did you mean farthing search?'],
    [['dispose'], 'There is no command "dispose". Did you mean farthing workspace dispose?'],
    [['upload', 'x'], 'There is no command "upload". Did you mean farthing ingest?'],
    [['xyzzy'], 'There is no command "xyzzy". farthing --help lists them.'],
    [
      ['workspace', 'destory'],
      'There is no "farthing workspace destory". It is one of: create, list, use, usage, extend, end-reserve, export, import, dispose.',
    ],
    [
      ['workspace', 'craete'],
      'There is no "farthing workspace craete". Did you mean farthing workspace create?',
    ],
    [['ingest', '--recusive', 'x'], '"farthing ingest" has no option --recusive. Did you mean --recursive?'],
    [['ingest', '-R', 'x'], '"farthing ingest" has no option -R. farthing ingest --help lists its options.'],
    [['search', 'x', '-k'], '-k wants a value: -k N.'],
    [['search', 'x', '--image', '--json'], '--image wants a value: --image FILE.'],
    [['search', 'x', '--exact=yes'], '--exact takes no value.'],
    [['search', 'x', '-k', '5000'], '-k: "5000" is not a whole number from 1 to 1000.'],
    [['workspace', 'create', '--minutes', '0'], `--minutes: "0" is not a whole number of at least 1.`],
    [['workspace', 'create', '--minutes', '1.5'], `--minutes: "1.5" is not a whole number of at least 1.`],
    [['search', 'x', '--filter', '{}x'], '--filter: must be JSON.'],
    [['search', 'x', '--filter', '{"nme": "x"}'], `--filter: there is no "nme". Did you mean name?`],
    [['search', 'x', '--budget', 'lots'], '--budget: "lots" is not an amount of US dollars, such as 0.05.'],
    [
      ['search', 'x', '--server', 'nonsense'],
      '"nonsense" is no address of a server, such as http://127.0.0.1:8402.',
    ],
    [['wallet', 'show', 'me'], '"farthing wallet show" does not take "me": farthing wallet show'],
    [['ingest'], '"farthing ingest" wants more: farthing ingest FILES…'],
  ];
  for (const [words, line] of cases)
    t.same(await agent.run(words), { code: 2, out: '', err: `${line}\n` }, words.join(' '));
});

t.test('what follows -- is no option', async (t) => {
  t.match(await agent.run(['ingest', '--', '--help']), { code: 2, err: 'There is no --help.\n' });
});

t.test('each command explains itself, and what it takes', async (t) => {
  for (const [name, { about, options = {} }] of Object.entries<CommandSpec>(SPECS)) {
    for (const words of [
      [...name.split(' '), '--help'],
      ['help', ...name.split(' ')],
    ]) {
      const { code, out } = await agent.run(words);
      t.equal(code, 0);
      t.ok(out.startsWith(`farthing ${name}`), out);
      t.ok(out.includes(about));
      for (const option of Object.keys(options)) t.ok(out.includes(`-${option}`), `${name} ${option}`);
    }
  }
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

t.test('the version is the package’s', async (t) => {
  const { version } = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as {
    version: string;
  };
  t.equal(VERSION, version);
  t.same(await agent.run(['--version']), { code: 0, out: `farthing ${version}\n`, err: '' });
});

t.test('the nearest name is that with the fewest slips, or one that contains the word', async (t) => {
  const names = ['ttl_minutes', 'spend_limit_usd', 'workspace'];
  t.equal(nearest('minutes', names), 'ttl_minutes');
  t.equal(nearest('ttl_minute', names), 'ttl_minutes');
  t.equal(nearest('limit', names), 'spend_limit_usd');
  t.equal(nearest('wrokspace', names), 'workspace');
  t.equal(nearest('query', names), undefined);
  t.equal(nearest('x'.repeat(100_000), names), undefined);
  t.equal(nearest('', names), undefined);
});
