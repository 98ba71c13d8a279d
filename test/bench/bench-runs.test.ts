import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import t from 'tap';
import benches from '../../bench/benches.json' with { type: 'json' };
import { deep } from '../rig/deep.ts';

/** A bench that nobody runs breaks unseen: each one is run for a moment, and ends with figures. */

const root = resolve(import.meta.dirname, '../..');
/** Exit status of `bench/check.js` and of benches where something that they need is absent. */
const ABSENT = 3;
const quick = ['filters', 'words'];
const trials = Object.entries(benches as Record<string, { trial?: Record<string, string> }>).filter(
  ([name, { trial }]) => trial && (deep(false, true) || quick.includes(name)),
);

for (const [name, { trial }] of trials) {
  t.test(`${name} runs and has figures`, async (t) => {
    const environment = { ...process.env, ...trial, RECORD_DIR: t.testdir(), NODE_OPTIONS: '' };
    const check = await run(['bench/check.js', name], environment);
    if (check.code === ABSENT) return t.pass(name, { skip: lastLine(check.output) });
    const { code, output } = await run(['bench/main.ts', name], environment);
    if (code === ABSENT) return t.pass(name, { skip: lastLine(output) });
    t.equal(code, 0, output.slice(-2000));
    t.match(output, /record: .*\.csv/);
  });
}

t.test('a bench that lacks something says so before anything is built: a name, a set', async (t) => {
  const check = (name: string, environment: Record<string, string> = {}) =>
    run(['bench/check.js', name], { PATH: process.env.PATH, ...environment });
  t.match(await check('list'), { code: 0, output: /^index +\S/m });
  t.match(await check('nothing'), { code: 2, output: /no bench "nothing"/ });
  t.match(await check('path', { SET: 'nothing' }), {
    code: ABSENT,
    output: /no set "nothing".*make bench-data/,
  });
});

const lastLine = (output: string) => output.trim().split('\n').at(-1)!;

async function run(words: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['--no-warnings', ...words], { cwd: root, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
