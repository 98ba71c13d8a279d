import t from 'tap';
import type { PictureContent } from '../../src/domain/document.ts';
import type { Encoder } from '../../src/encode/encoder.ts';
import type { Extractor } from '../../src/extract/extractor.ts';
import { Search } from '../../src/search/search.ts';
import { openTenants } from '../../src/shard/tenants.ts';
import { openEmbedded } from '../encode/rig/embedded.ts';
import { itemOf, passage } from '../shard/fixtures.ts';
import '../rig/teardown-order.ts';

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
    encoders: { current: encoder, searching: async () => encoder },
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

t.test('an answer is the same whether its words were ranked while it was encoded or not', async (t) => {
  const encoder = await openEmbedded();
  t.teardown(() => encoder.close());
  const tenants = openTenants({ folder: t.testdir(), spaces: encoder.spaces, openShardsMax: 4 });
  t.teardown(() => tenants.close());
  const append = (id: string, text: string) =>
    tenants.use('ws_a', { create: true }, (shard) =>
      shard.append(itemOf(id), [passage(id, text, { vectors: {} })]),
    );
  await append('a', 'The keeper counts gulls at dawn.');
  await append('b', 'Gulls and more gulls.');
  const encoded = { during: async (): Promise<void> => undefined, waiting: 0 };
  const current = {
    spaces: encoder.spaces,
    missing: encoder.missing,
    fusion: encoder.fusion,
    vocabulary: encoder.vocabulary,
    admitQuery: () => encoder.admitQuery(),
    queueDepths: () => ({ queries: encoded.waiting, ingest: 0 }),
    encodeQuery: async (...of: Parameters<Encoder['encodeQuery']>) => {
      const vectors = await encoder.encodeQuery(...of);
      await encoded.during();
      return vectors;
    },
  } as unknown as Encoder;
  const encoders = { current, searching: async () => current };
  const search = new Search({ tenants, encoders, extractor: {} as Extractor });
  const answer = async () => {
    const input = { query: 'which keepr counts gulls?', k: 9, explain: true };
    const found = await search.run('ws_a', input, new AbortController().signal);
    const { lists, segments } = found.explanation!;
    return {
      hits: found.hits.toJSON(),
      answered: found.answered,
      corrected: found.corrected,
      lists,
      segments,
    };
  };
  const early = await answer();
  encoded.waiting = 1;
  t.same(await answer(), early);
  t.equal(early.corrected, 'which keeper counts gulls?');
  encoded.waiting = 0;
  encoded.during = () => append('c', 'Nobody counts the gulls here.');
  const after = await answer();
  t.equal(after.hits.length, early.hits.length + 1, 'what was committed meanwhile is found');
  encoded.during = async () => undefined;
  t.same(await answer(), after);
});
