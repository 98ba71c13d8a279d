import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { withoutCutDisk } from '../../rig/cut-disk.ts';
import { DISKS, fill } from './disks.ts';

/** Opening a store on a full disk fails with an error: a page of a mapped file without a block would end the process (SIGBUS). */

const MEBIBYTES = 16;
const ROOT = join(import.meta.dirname, '../../..');

/** Opens what it is told to, with a reader, and says what came of it. */
const PROGRAMS = {
  index: `
    const { native } = await import(${JSON.stringify(join(ROOT, 'src/native/index.ts'))});
    await native.openShard(process.argv[2], []);`,
  'shared state': `
    const { openStore } = await import(${JSON.stringify(join(ROOT, 'src/server/state/store.ts'))});
    openStore(process.argv[2]).table('rows').get('a');`,
};

const skip = await withoutCutDisk();
for (const [disk, mount] of Object.entries(DISKS))
  for (const [what, program] of Object.entries(PROGRAMS))
    t.test(`${what} on a full ${disk}`, skip === undefined ? {} : { skip }, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'farthing-full-'));
      const mounted = await mount(folder, MEBIBYTES);
      const fillers: { end(): void }[] = [];
      t.teardown(async () => {
        for (const filler of fillers) filler.end();
        await mounted.remove();
        rmSync(folder, { recursive: true });
      });
      const open = (name: string) =>
        spawnSync(
          process.execPath,
          [
            '--no-warnings',
            '--import',
            join(ROOT, 'test/runner/stripped.js'),
            '--input-type=module',
            '-e',
            `try { ${program}; console.log('opened'); } catch (error) { console.log(error.message); }`,
            'program',
            join(mounted.folder, name),
          ],
          { encoding: 'utf8' },
        );
      for (const name of ['known', 'new']) mkdirSync(join(mounted.folder, name));
      t.match(open('known'), { status: 0, stdout: 'opened\n' });
      fillers.push(fill(mounted.folder));
      const { status, signal, stdout } = open('new');
      t.match({ status, signal }, { status: 0, signal: null }, 'the process lives');
      t.match(stdout, /no room|no space/i, 'and says why');
      t.match(open('known'), { status: 0, signal: null }, 'what was there before ends no process either');
    });
