import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Shard } from '../../../src/engine/shard/shard.ts';
import { openTenants } from '../../../src/engine/shard/tenants.ts';
import type { SpaceSpec } from '../../../src/engine/space.ts';
import { itemOf, open, openFor, passage, SPACES } from './fixtures.ts';
import '../../rig/teardown-order.ts';

const ABSENT = { code: 'not_found' };

async function fill(shard: Shard): Promise<void> {
  await shard.append(itemOf('a'), [passage('a', 'some words')]);
}

t.test('an absent tenant is created only on request', async (t) => {
  const tenants = openFor(t);
  t.equal(tenants.exists('ws_a'), false);
  await t.rejects(
    tenants.use('ws_a', {}, () => 1),
    ABSENT,
  );
  t.equal(tenants.exists('ws_a'), false, 'asking makes nothing');
  t.equal(await tenants.use('ws_a', { create: true }, () => 1), 1);
  t.equal(tenants.exists('ws_a'), true);
  t.throws(() => tenants.folder('../elsewhere'));
  t.throws(() => tenants.folder(''));
});

t.test('no more indexes are open than allowed, and all can be used', async (t) => {
  const tenants = openFor(t, 3);
  const names = Array.from({ length: 10 }, (_, index) => `ws_${index}`);
  for (const name of names) {
    await tenants.use(name, { create: true }, fill);
    t.ok(tenants.openCount <= 3);
  }
  for (const name of names) t.ok(await tenants.use(name, {}, (shard) => shard.item('a')));
  await Promise.all(
    [0, 1, 0, 1, 0, 2].map((index) => tenants.use(names[index]!, {}, (shard) => shard.item('a'))),
  );
  t.ok(tenants.openCount <= 3);
});

t.test('an index in use is not closed for another, whose use is refused as overload', async (t) => {
  const tenants = openFor(t, 1);
  await tenants.use('ws_a', { create: true }, async (shard) => {
    await t.rejects(
      tenants.use('ws_b', { create: true }, () => 1),
      { code: 'overloaded', retryAfterS: 1 },
    );
    await fill(shard);
  });
  t.equal(await tenants.use('ws_b', { create: true }, () => 1), 1);
});

t.test('a disposal waits for running work, and leaves nothing', async (t) => {
  const folder = t.testdir();
  const tenants = open(folder);
  t.teardown(() => tenants.close());
  await tenants.use('ws_a', { create: true }, fill);
  writeFileSync(join(tenants.folder('ws_a'), 'upload'), 'secret');
  let finish = (): void => undefined;
  const running = tenants.use('ws_a', {}, async (shard) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return shard.item('a')?.id;
  });
  await new Promise(setImmediate);
  const disposal = tenants.dispose('ws_a');
  t.equal(tenants.exists('ws_a'), false);
  await t.rejects(
    tenants.use('ws_a', { create: true }, () => 1),
    ABSENT,
  );
  t.equal(existsSync(tenants.folder('ws_a')), true, 'while a use runs');
  finish();
  t.equal(await running, 'a');
  await disposal;
  t.same(readdirSync(folder), []);
  await t.rejects(
    tenants.use('ws_a', { create: true }, () => 1),
    ABSENT,
    'a late job cannot bring it back',
  );
  await tenants.dispose('ws_a');
  t.same(readdirSync(folder), [], 'once more changes nothing');
});

t.test('an interrupted disposal is finished at start', async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, '.disposing-ws_a', 'shard'), { recursive: true });
  writeFileSync(join(folder, '.disposing-ws_a', 'shard', 'data.mdb'), 'remains');
  const tenants = open(folder);
  t.teardown(() => tenants.close());
  t.same(await tenants.resumeDisposals(), ['ws_a']);
  t.same(readdirSync(folder), []);
  t.same(await tenants.resumeDisposals(), []);
});

t.test('an index keeps its model after a change, and an empty kind takes the one in use', async (t) => {
  const folder = t.testdir();
  const first = open(folder);
  await first.use('ws_a', { create: true }, fill);
  const before = await first.use('ws_a', {}, (shard) => shard.spaces);
  await first.close();
  const spaces = [{ name: 'text_semantic', dimensions: 4, modelSha256: 'ff'.repeat(32) }];
  const tenants = openTenants({ folder, spaces, openShardsMax: 1 });
  t.teardown(() => tenants.close());
  const isText = ({ name }: { name: string }) => name === 'text_semantic';
  await tenants.use('ws_a', {}, (shard) => {
    t.strictSame(shard.spaces.filter(isText), before.filter(isText));
    const snapshot = shard.snapshot();
    t.ok(snapshot.searchVector('text_semantic', new Float32Array(8).fill(0.5), 3).segments.length > 0);
    snapshot.close();
  });
  await tenants.use('ws_new', { create: true }, (shard) => t.strictSame(shard.spaces, spaces));
});

t.test('another model takes an index over between two uses, whole or not at all', async (t) => {
  const tenants = openFor(t);
  await tenants.use('ws_a', { create: true }, fill);
  const other: SpaceSpec = { name: 'text_semantic', dimensions: 3, modelSha256: 'ef'.repeat(32) };
  const rows = (...segments: number[]) => ({
    segments: Uint32Array.from(segments),
    values: Float32Array.from(segments.flatMap(() => [1, 0, 0])),
  });
  const found = (query: number[]) =>
    tenants.use('ws_a', {}, (shard) => {
      const snapshot = shard.snapshot();
      const { segments } = snapshot.searchVector('text_semantic', Float32Array.from(query), 1);
      snapshot.close();
      return [shard.spaces[0]?.modelSha256, segments.length];
    });
  t.equal(await tenants.changeModel('ws_a', other, rows(5)), false, 'a segment has no row');
  t.same(await found([1, 0, 0, 0, 0, 0, 0, 0]), [SPACES[0]!.modelSha256, 1]);
  await t.rejects(tenants.changeModel('ws_a', { ...other, dimensions: 4 }, rows(0)), 'rows of another size');
  t.same(await found([1, 0, 0, 0, 0, 0, 0, 0]), [SPACES[0]!.modelSha256, 1]);

  let finish = (): void => undefined;
  const events: string[] = [];
  const before = tenants.use('ws_a', {}, async (shard) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    events.push(`before: ${shard.spaces[0]?.dimensions}`);
  });
  await new Promise(setImmediate);
  const change = tenants.changeModel('ws_a', other, rows(0, 5)).then((is) => events.push(`changed: ${is}`));
  await new Promise(setImmediate);
  const after = tenants.use('ws_a', {}, (shard) => events.push(`after: ${shard.spaces[0]?.dimensions}`));
  finish();
  await Promise.all([before, change, after]);
  t.same(events.sort(), ['after: 3', 'before: 8', 'changed: true']);
  t.same(await found([1, 0, 0]), [other.modelSha256, 1]);
  await t.rejects(tenants.changeModel('ws_b', other, rows(0)), ABSENT);
});

t.test('idle indexes are closed, those in use are not, and all can be opened again', async (t) => {
  const tenants = openFor(t);
  await tenants.use('ws_a', { create: true }, fill);
  await tenants.use('ws_b', { create: true }, async (shard) => {
    await fill(shard);
    await tenants.closeIdle(3_600_000);
    t.equal(tenants.openCount, 2, 'an hour has not passed');
    await tenants.closeIdle(0);
    t.equal(tenants.openCount, 1);
    t.equal(shard.item('a')?.id, 'a');
  });
  t.equal(await tenants.use('ws_a', {}, (shard) => shard.item('a')?.id), 'a');
});

t.test(
  'indexes release their memory and files, open or closed',
  { skip: !existsSync('/proc/self/status') && 'memory is read from /proc' },
  async (t) => {
    const own = () =>
      Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
    const tenants = openFor(t, 64);
    await tenants.use('ws_first', { create: true }, fill);
    const before = own();
    // LMDB asks for 3 MiB for each of them, of which it uses a few pages.
    for (let index = 0; index < 60; index++) {
      await tenants.use(`ws_${index}`, { create: true }, fill);
      await tenants.dispose(`ws_${index}`);
      await tenants.use(`ws_again_${index}`, { create: true }, fill);
    }
    t.equal(tenants.openCount, 61);
    const grown = own() - before;
    t.ok(grown < 100, `${grown.toFixed(0)} MiB more than with one index`);
  },
);
