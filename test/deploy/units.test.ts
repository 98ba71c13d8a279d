import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { validate } from 'dockerfile-utils';
import t from 'tap';
import { lacksProgram } from '../rig/run-program.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** As systemd grades it: from 0 (confined) to 10 (exposed); what it calls OK begins under 4. */
const EXPOSURE_MAX = 2;

const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });

t.test(
  'systemd takes the unit without a word, and finds it confined',
  { skip: lacksProgram('systemd-analyze') },
  async (t) => {
    const unit = join(t.testdir({}), 'farthing.service');
    // It looks for the program, which is in this tree here.
    writeFileSync(unit, read('deploy/systemd/farthing.service').replaceAll('/opt/farthing', root));
    const verified = analyze('verify', '--man=no', unit);
    t.equal(verified.status, 0);
    t.equal(verified.stderr, '');
    const { stdout } = analyze('security', '--offline=true', '--no-pager', unit);
    const [, exposure] = /Overall exposure level for farthing\.service: ([\d.]+)/.exec(stdout) ?? [];
    t.ok(Number(exposure) <= EXPOSURE_MAX, `exposure ${exposure}`);
  },
);

t.test('a folder of packages is served by the same unit, with the program that is in it', async (t) => {
  const conf = read('deploy/systemd/package.conf');
  const [, former, program] = /^ExecStart=(.*)\nExecStart=\S+ node_modules\/farthing\/(\S+)$/m.exec(conf)!;
  t.equal(former, '', 'the command of the tree is taken back');
  t.match(read('deploy/systemd/farthing.service'), ` ${program}\n`, 'both start the same');
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  t.ok(files.includes('deploy/systemd'), 'the package brings both');
  t.match(read('deploy/Containerfile'), `node_modules/farthing/${program}`);
});

t.test('the container file parses without a fault and copies from stages that exist', async (t) => {
  const text = read('deploy/Containerfile');
  t.same(
    validate(text).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
    [],
  );
  const stages = [...text.matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, name]) => name);
  for (const [, from] of text.matchAll(/--from=(\w+) /g)) t.ok(stages.includes(from), `stage ${from}`);
  t.match(text, /^USER 8402$/m, 'not as root');
  t.match(text, /^ENTRYPOINT \[/m, 'the server itself gets the signals');
});
