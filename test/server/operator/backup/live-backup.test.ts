import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { Tenants } from '../../../../src/engine/shard/tenants.ts';
import { systemClock, toTimestamp } from '../../../../src/protocol/clock.ts';
import {
  type ItemId,
  idFrom,
  jobOfItem,
  payerTenantId,
  type TenantId,
  type WorkspaceId,
} from '../../../../src/protocol/id.ts';
import { fileOf } from '../../../../src/server/ingest/items/files.ts';
import { JobTable } from '../../../../src/server/ingest/jobs/job-table.ts';
import { LiveBackup } from '../../../../src/server/operator/backup/live-backup.ts';
import { openStore, type Store } from '../../../../src/server/state/store.ts';
import { openReceiptSigner } from '../../../../src/server/workspace/disposal/receipt.ts';
import { RentedTime } from '../../../../src/server/workspace/time/rented-time.ts';
import { Workspaces } from '../../../../src/server/workspace/workspaces.ts';
import { itemOf, open, passage, SPACES } from '../../../engine/shard/fixtures.ts';
import { PRICING } from '../../workspace/world.ts';
import '../../../rig/teardown-order.ts';

const DAY_MS = 86_400_000;

const itemNumbered = (number: number) => idFrom('item', String(number).repeat(32));
const OLD = itemNumbered(8);
const REMOVED = itemNumbered(9);

/** State, Tenants and workspaces over one data folder, without the rest of a server. */
class Place {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly workspaces: Workspaces;
  readonly jobs: JobTable;

  static async open(t: Test, data: string): Promise<Place> {
    mkdirSync(data, { recursive: true });
    const place = new Place(data, await openReceiptSigner(join(data, 'keys')));
    await place.tenants.resumeDisposals();
    t.teardown(async () => {
      await place.tenants.close();
      await place.store.close();
    });
    return place;
  }

  private constructor(data: string, signer: Awaited<ReturnType<typeof openReceiptSigner>>) {
    this.store = openStore(join(data, 'state'));
    this.tenants = open(join(data, 'tenants'));
    this.jobs = new JobTable(this.store, systemClock);
    const { store, tenants } = this;
    this.workspaces = new Workspaces({
      store,
      tenants,
      signer,
      clock: systemClock,
      time: new RentedTime(store, systemClock, { downtimeRefundMinutesMax: 60 }),
      pricing: PRICING,
      issuer: 'http://127.0.0.1',
      stopTenant: async () => undefined,
      limits: {},
      links: () => ({}),
      log: () => undefined,
    });
  }

  async rent(): Promise<{ id: WorkspaceId; token: string }> {
    const { id } = await this.workspaces.create({});
    const { token } = await this.workspaces.commitCreation(id);
    return { id, token: token! };
  }

  /** As an ingest does; `job`: false where its row was dropped, or is not there yet. */
  async put(tenant: TenantId, id: ItemId, { job = true, created = Date.now() } = {}): Promise<void> {
    if (job) await this.jobs.create({ id: jobOfItem(id), tenant, item: id });
    const file = fileOf(this.tenants.folder(tenant), id);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `file of ${id}`);
    await this.tenants.use(tenant, { create: true }, (shard) =>
      shard.append(itemOf(id, { created_at: toTimestamp(created) }), [passage(id, 'some words')]),
    );
  }

  async items(tenant: string): Promise<string[]> {
    const items = await this.tenants.use(tenant, {}, (shard) => shard.items({ limit: 10 }));
    return items.map(({ id }) => id);
  }
}

/** A backup during which `meanwhile` happens: after the state is copied, before any Tenant is. */
function backupOf(data: string, place: Place, meanwhile: () => Promise<void>): LiveBackup {
  let begun: Promise<void> | undefined;
  return new LiveBackup({
    data,
    books: () => [{ folder: data, store: place.store }],
    tenants: {
      folder: (tenant) => place.tenants.folder(tenant),
      useIfThere: async (...call) => {
        begun ??= meanwhile();
        await begun;
        return place.tenants.useIfThere(...call);
      },
    },
    spaces: SPACES,
    clock: systemClock,
    log: () => undefined,
  });
}

t.test('a copy has what the copied registry knows, and nothing that has ended meanwhile', async (t) => {
  const folder = t.testdir({});
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
  const place = await Place.open(t, data);
  const [kept, deleted, empty] = [await place.rent(), await place.rent(), await place.rent()];
  await place.put(kept.id, itemNumbered(1));
  await place.put(kept.id, OLD, { job: false, created: Date.now() - 2 * DAY_MS });
  await place.put(kept.id, REMOVED);
  await place.put(deleted.id, itemNumbered(2));
  const payer = payerTenantId(`0x${'a'.repeat(40)}`);
  await place.put(payer, itemNumbered(3));
  let later: { id: WorkspaceId; token: string } | undefined;
  let receipt = '';
  const backup = backupOf(data, place, async () => {
    ({ receipt } = await place.workspaces.dispose(deleted.id, deleted.token));
    await place.put(kept.id, itemNumbered(4));
    await place.put(empty.id, itemNumbered(5));
    later = await place.rent();
    await place.put(later.id, itemNumbered(6));
    // Of an item that is being removed, the file goes first.
    rmSync(fileOf(place.tenants.folder(kept.id), REMOVED));
  });
  const taking = backup.take(copy);
  await t.rejects(backup.take(join(folder, 'another')), { code: 'overloaded' });
  await taking;

  const restored = await Place.open(t, copy);
  t.same(await restored.items(kept.id), [itemNumbered(1), OLD]);
  t.same(readdirSync(join(restored.tenants.folder(kept.id), 'files')).toSorted(), [itemNumbered(1), OLD]);
  t.equal(
    readFileSync(fileOf(restored.tenants.folder(kept.id), itemNumbered(1)), 'utf8'),
    `file of ${itemNumbered(1)}`,
  );
  t.match(restored.workspaces.authenticate(kept.id, kept.token), { id: kept.id, state: 'active' });
  t.same(await restored.items(empty.id), []);
  t.equal(restored.workspaces.views.show(deleted.id)?.state, 'disposed');
  t.equal(existsSync(restored.tenants.folder(deleted.id)), false, 'nothing of it in the copy');
  t.equal((await restored.workspaces.dispose(deleted.id, deleted.token)).receipt, receipt);
  t.equal(restored.workspaces.views.show(later!.id), undefined, 'rented later');
  t.equal(existsSync(restored.tenants.folder(later!.id)), false);
  t.equal(existsSync(restored.tenants.folder(payer)), false, 'no registry knows this payer');
  t.same(readdirSync(folder).toSorted(), ['copy', 'data'], 'no draft is left');
});

t.test('a stop ends a backup that runs, and leaves no draft', async (t) => {
  const folder = t.testdir({});
  const data = join(folder, 'data');
  const place = await Place.open(t, data);
  const { id } = await place.rent();
  await place.put(id, itemNumbered(1));
  let closed: Promise<void> | undefined;
  const backup = backupOf(data, place, async () => {
    closed = backup.close();
  });
  await t.rejects(backup.take(join(folder, 'copy')), { code: 'interrupted' });
  await closed;
  t.same(readdirSync(folder), ['data']);
  await t.rejects(backup.take(join(folder, 'copy')), { code: 'overloaded' });
});

t.test('a folder inside the data folder, or one that exists, takes no backup', async (t) => {
  const folder = t.testdir({ there: {} });
  const data = join(folder, 'data');
  const place = await Place.open(t, data);
  const backup = backupOf(data, place, async () => undefined);
  await t.rejects(backup.take(join(data, 'copy')), /elsewhere/);
  await t.rejects(backup.take(join(folder, 'there')), /exists already/);
});
