import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { CutDisk, withoutCutDisk } from '../../rig/cut-disk.ts';

const reason = await withoutCutDisk();

t.test(
  'a disk that is cut has what was synced, and nothing that was not',
  reason === undefined ? {} : { skip: reason },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'farthing-cut-'));
    const disk = await CutDisk.mount(folder, 64);
    t.teardown(async () => {
      await disk.remove();
      rmSync(folder, { recursive: true });
    });
    const kept = openSync(join(disk.folder, 'kept'), 'w');
    writeSync(kept, 'synced');
    fsyncSync(kept);
    writeSync(kept, ', and not synced');
    writeFileSync(join(disk.folder, 'lost'), 'not synced');
    disk.cut();
    t.throws(() => fsyncSync(kept), 'nothing more can be synced');
    closeSync(kept);
    await disk.restore();
    t.equal(readFileSync(join(disk.folder, 'kept'), 'utf8'), 'synced');
    t.notOk(existsSync(join(disk.folder, 'lost')));
  },
);
