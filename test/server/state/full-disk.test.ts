import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import t from 'tap';
import { CrashClient } from '../../payment/crash/crash-client.ts';
import { KilledServer } from '../../payment/crash/killed-server.ts';
import { judge } from '../../payment/crash/oracle.ts';
import { startOutsideFacilitator } from '../../payment/crash/outside/outside-facilitator.ts';
import { withoutCutDisk } from '../../rig/cut-disk.ts';
import { deep } from '../../rig/deep.ts';
import { Random } from '../../rig/random.ts';
import { DISKS, fill } from './disks.ts';

/** A disk without a free byte under paid traffic: refusals in words, not ready, and ready again without a start. */

const SECONDS_FULL = Number(process.env.FULL_DISK_SECONDS || deep(3, 60));
const SECONDS_BEFORE = 2;
const MEBIBYTES = 256;
const CLIENTS = 4;
const LOOK_EVERY_MS = 100;
const READY_MS_MAX = 60_000;

/** True for a ready server; undefined while it does not answer. */
async function readiness(url: string): Promise<boolean | undefined> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined);
  return response?.ok;
}

const skip = await withoutCutDisk();
for (const [name, mount] of Object.entries(DISKS)) {
  t.test(
    `${SECONDS_FULL} s without a free byte on ${name}: no fault, not ready, ready again, and the books agree`,
    skip === undefined ? {} : { skip },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'farthing-full-'));
      const disk = await mount(folder, MEBIBYTES);
      const random = new Random(Number(process.env.CRASH_SEED || 1));
      const outside = await startOutsideFacilitator(random);
      const { transfers } = outside.ledger;
      const data = join(disk.folder, 'data');
      const server = new KilledServer(
        {
          folder,
          settings: { DATA_DIR: data, FREE_DISK_BYTES_MIN: String(2 ** 20) },
          nextNode: () => ({}),
          endsServers: false,
        },
        outside.settings,
      );
      const going = {
        stopped: false,
        get url() {
          return server.url;
        },
      };
      const clients = Array.from(
        { length: CLIENTS },
        (_, index) =>
          new CrashClient(
            random.fork(),
            going,
            { losesDisk: index === 0, prepays: outside.provesAdvances && index % 2 === 1 },
            () => undefined,
          ),
      );
      t.teardown(async () => {
        going.stopped = true;
        await server.kill();
        await outside.close();
        await disk.remove();
        rmSync(folder, { recursive: true });
      });
      await server.start();
      const { url } = server;
      const bought = Promise.all(clients.map((client) => client.run()));
      await after(1000 * SECONDS_BEFORE);
      t.equal(await readiness(url), true);
      const filler = fill(disk.folder);
      t.equal(statfsSync(disk.folder).bavail, 0);
      const seen = new Set<boolean | undefined>();
      for (let waited = 0; waited < 1000 * SECONDS_FULL; waited += LOOK_EVERY_MS) {
        seen.add(await readiness(url));
        await after(LOOK_EVERY_MS);
      }
      t.ok(seen.has(false), 'not ready');
      t.notOk(seen.has(undefined), 'it always answers');
      filler.end();
      const latest = Date.now() + READY_MS_MAX;
      while ((await readiness(url)) !== true && Date.now() < latest) await after(LOOK_EVERY_MS);
      t.equal(await readiness(url), true);
      t.equal(server.url, url, 'without a start');
      going.stopped = true;
      await bought;
      t.strictSame(await server.withoutPending(), []);
      await server.stop();
      const purchases = clients.flatMap((client) => client.purchases);
      const { faults } = await judge(data, transfers, purchases, {
        done: true,
        answersAfterNote: false,
      });
      t.strictSame([...faults, ...clients.flatMap((client) => client.faults)], []);
      t.comment(`${purchases.length} purchases, ${transfers.size} charges`);
    },
  );
}
