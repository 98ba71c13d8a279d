import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
