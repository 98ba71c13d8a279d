import t from 'tap';
import { Search } from '../../../src/engine/search/search.ts';
import { openTenants } from '../../../src/engine/shard/tenants.ts';
import type { PictureContent } from '../../../src/protocol/document.ts';
import { Owners } from '../../../src/queues/owners.ts';
import type { Extractor } from '../../../src/readers/extractor.ts';
import { openEmbedded } from '../encode/rig/embedded.ts';
import { itemOf, passage } from '../shard/fixtures.ts';
import '../../rig/teardown-order.ts';

t.test('a client that leaves while its picture is decoded ends its search alone', async (t) => {
  const encoder = await openEmbedded();
  t.teardown(() => encoder.close());
  const tenants = openTenants({ folder: t.testdir(), spaces: encoder.spaces, openShardsMax: 4 });
  t.teardown(() => tenants.close());
  await tenants.use('ws_a', { create: true }, (shard) =>
    shard.append(itemOf('a'), [passage('a', 'some words', { vectors: {} })]),
  );
  const client = new AbortController();
  let fail = (_: Error): void => undefined;
  const decodePicture = (): Promise<PictureContent> => {
    client.abort();
    return new Promise((_, reject) => {
      fail = reject;
    });
  };
  const search = new Search({
    tenants,
    owners: new Owners(),
    encoders: { current: encoder, search: (_index, _asked, work) => work(encoder) },
    extractor: { decodePicture } as unknown as Extractor,
  });
  // The only query worker is busy: the search's words wait, and are dropped when their turn comes.
  const before = encoder.encodeQuery('text', 'what another asks', { tenant: 'ws_b' });
  const input = { query: 'words', image: new Uint8Array(1), k: 3 };
  const ended = t.rejects(search.run('ws_a', input, client.signal));
  await before;
  // An unhandled rejection would end the process in this turn.
  await new Promise(setImmediate);
  fail(new Error('the child process was stopped'));
  await ended;
  t.equal(encoder.queueDepths().queries, 0);
});
