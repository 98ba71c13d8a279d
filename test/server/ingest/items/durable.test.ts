import t from 'tap';
import { FolderSyncs } from '../../../../src/server/ingest/items/durable.ts';

/** Syncs that end when they are told to. */
function bySyncs() {
  const begun: { folder: string; end: PromiseWithResolvers<void> }[] = [];
  const syncs = new FolderSyncs((folder) => {
    const end = Promise.withResolvers<void>();
    begun.push({ folder, end });
    return end.promise;
  });
  return { begun, syncs };
}

const turn = () => new Promise(setImmediate);

t.test('those who come while a folder is being synced share one sync that begins after that', async (t) => {
  const { begun, syncs } = bySyncs();
  const told: string[] = [];
  const ask = (who: string, folder = 'a') => syncs.sync(folder).then(() => told.push(who));
  const first = ask('first');
  const others = [ask('second'), ask('third')];
  const elsewhere = ask('elsewhere', 'b');
  await turn();
  t.same(
    begun.map(({ folder }) => folder),
    ['a', 'b'],
    'another folder does not wait',
  );
  begun[0]!.end.resolve();
  await first;
  await turn();
  t.same(told, ['first'], 'a sync that began before a change says nothing of it');
  t.equal(begun.length, 3);
  begun[2]!.end.resolve();
  await Promise.all(others);
  begun[1]!.end.resolve();
  await elsewhere;
  t.same(told, ['first', 'second', 'third', 'elsewhere']);
  const last = ask('last');
  begun[3]!.end.resolve();
  await last;
  t.equal(begun.length, 4, 'nobody shares what is over');
});

t.test('a sync that fails fails those who share it, and none that comes after', async (t) => {
  const { begun, syncs } = bySyncs();
  const [first, second, third] = [syncs.sync('a'), syncs.sync('a'), syncs.sync('a')];
  begun[0]!.end.reject(new Error('no first'));
  await t.rejects(first, { message: 'no first' });
  await turn();
  const fourth = syncs.sync('a');
  begun[1]!.end.reject(new Error('no second'));
  await t.rejects(second, { message: 'no second' });
  await t.rejects(third, { message: 'no second' });
  await turn();
  begun[2]!.end.resolve();
  await fourth;
});
