import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { EXTRACT_LIMITS } from '../../src/domain/document.ts';
import { payerTenantId } from '../../src/domain/id.ts';
import { openEncoder } from '../../src/encode/open-encoder.ts';
import { openExtractor } from '../../src/extract/extractor.ts';
import { Ingest } from '../../src/ingest/ingest.ts';
import { INGEST_LIMITS } from '../../src/ingest/ports/limits.ts';
import type { StagedUpload } from '../../src/ingest/ports/ports.ts';
import { openTenants } from '../../src/shard/tenants.ts';
import { openStore } from '../../src/state/store.ts';
import { CACHE_DIR } from '../rig/test-server.ts';

const TENANT = payerTenantId(`0x${'a'.repeat(40)}`);
const A_WHILE_MS = 60_000;

t.test('samples become searchable with the real reader, encoder and index', async (t) => {
  const folder = t.testdir();
  const log = (): void => undefined;
  const encoder = await openEncoder({
    modelsFolder: 'models',
    cacheFolder: CACHE_DIR,
    queryWorkers: 1,
    ingestWorkers: 1,
    queryQueueMax: 16,
    ingestQueueMax: 16,
    log,
  });
  const extractor = openExtractor({
    pictureSpec: encoder.pictureSpec,
    limits: EXTRACT_LIMITS,
    scratchFolder: join(folder, 'scratch'),
    log,
  });
  const tenants = openTenants({
    folder: join(folder, 'tenants'),
    spaces: encoder.spaces,
    openShardsMax: 4,
  });
  const store = openStore(join(folder, 'state'));
  const ingest = new Ingest({
    tenants,
    extractor,
    encoder,
    store,
    clock: systemClock,
    expiry: () => null,
    limits: INGEST_LIMITS,
    newCredit: async () => undefined,
    log,
  });
  t.teardown(async () => {
    await ingest.close();
    await extractor.close();
    await encoder.close();
    await tenants.close();
    await store.close();
  });
  const stage = (file: string): StagedUpload => {
    const incoming = join(folder, 'incoming');
    mkdirSync(incoming, { recursive: true });
    const path = join(incoming, randomUUID());
    copyFileSync(file, path);
    const bytes = readFileSync(file);
    return {
      path,
      name: basename(file),
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
  };
  const add = async (file: string): Promise<string> => {
    const upload = stage(file);
    const outcome = await ingest.inspect(TENANT, upload);
    if (!('info' in outcome)) throw new Error('an unexpected duplicate');
    const { job, item } = await ingest.accept(TENANT, upload, outcome.info, { held: false });
    t.match(await ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable', error: undefined }, file);
    return item.id;
  };
  const almanac = await add('samples/almanac.pdf');
  const rocket = await add('samples/rocket.jpg');
  const picture = await extractor.decodePicture(readFileSync('samples/rocket.jpg'));
  await tenants.use(TENANT, {}, (shard) => {
    t.match(shard.item(almanac), {
      state: 'searchable',
      pages: 5,
      segments: 5,
      title: 'A Small Almanac',
      families: ['text_semantic', 'raw'],
    });
    t.match(shard.item(rocket), {
      media_type: 'image/jpeg',
      segments: 2,
      families: ['visual', 'raw'],
      width: 640,
    });
    const snapshot = shard.snapshot();
    try {
      const best = snapshot.searchWords('tides in the estuary', 3);
      t.match(snapshot.records(best.segments)[0], { item: almanac, locator: { page: 5 } });
      const exact = snapshot.searchPicture(picture.fingerprint, picture.digest, 3);
      t.match(snapshot.records(exact.segments)[0], { item: rocket });
      t.equal(exact.scores[0], 1);
    } finally {
      snapshot.close();
    }
  });
  t.match(await ingest.inspect(TENANT, stage('samples/almanac.pdf')), {
    duplicate: { item: { id: almanac }, duplicate: true },
  });
  t.same(readdirSync(join(tenants.folder(TENANT), 'files')).sort(), [almanac, rocket].sort());

  const tea = stage('samples/tea.txt');
  const held = await ingest.accept(TENANT, tea, { kind: 'text', mediaType: 'text/plain' }, { held: true });
  await ingest.withdraw(held.job.id);
  await ingest.cancelTenant(TENANT);
  await tenants.dispose(TENANT);
  t.notOk(existsSync(tenants.folder(TENANT)));
});
