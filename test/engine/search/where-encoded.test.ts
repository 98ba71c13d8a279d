import t, { type Test } from 'tap';
import type { Encoder } from '../../../src/engine/encode/encoder.ts';
import type { QueryEncoder } from '../../../src/engine/encode/index-models.ts';
import { Search, type SearchResult } from '../../../src/engine/search/search.ts';
import { openTenants, type Tenants } from '../../../src/engine/shard/tenants.ts';
import type { SpaceSpec } from '../../../src/engine/space.ts';
import type { SearchInput } from '../../../src/protocol/search.ts';
import { Owners } from '../../../src/queues/owners.ts';
import type { Extractor } from '../../../src/readers/extractor.ts';
import { deep } from '../../rig/deep.ts';
import { openEmbedded } from '../encode/rig/embedded.ts';
import { itemOf, passage } from '../shard/fixtures.ts';
import '../../rig/teardown-order.ts';

/** Searches that the native encoder's thread goes on with, and the same ones with ONNX Runtime, or with vectors handed back: one contract. */

const TEXTS = [
  'The keeper counts gulls at dawn.',
  'Gulls and more gulls.',
  'Bread rises because yeast turns sugar into gas.',
  'The moon pulls the sea, and the tide follows.',
];
const QUERIES: readonly SearchInput[] = [
  { query: 'which keepr counts gulls?', k: 9, explain: true },
  { query: 'why does dough become larger?', k: 1, families: ['text_semantic'], explain: true },
  { query: '"counts gulls" at dawn', k: 3, exact: true, explain: true },
  { query: 'what moves the ocean?', k: 1000, min_confidence: 0.01, explain: true },
];

interface Rig {
  readonly tenants: Tenants;
  readonly encoder: Encoder;
  readonly search: Search;
  append(tenant: string, id: string, text: string): Promise<void>;
  /** Runs between a search's look at its index and its encoding. */
  before: () => Promise<void> | void;
  /** Whether the encoder may go on with searches. */
  told: boolean;
  /** Searches that the encoder went on with. */
  begun: number;
}

function rigOf(t: Test, encoder: Encoder, spaces: readonly SpaceSpec[] = encoder.spaces): Rig {
  const tenants = openTenants({ folder: t.testdir(), spaces, openShardsMax: 4 });
  t.teardown(() => tenants.close());
  const rig = { before: () => undefined, told: true, begun: 0 } as unknown as Rig & { begun: number };
  const encodeQuery: QueryEncoder['encodeQuery'] = async (kind, input, options) => {
    await rig.before();
    return encoder.encodeQuery(kind, input, options);
  };
  const search: NonNullable<Encoder['wordsSearches']>['search'] = async (asked, encodes, options) => {
    // All that are asked in one turn are one batch.
    const before = rig.before();
    if (before) await before;
    const answered = encoder.wordsSearches!.search(asked, encodes, options);
    rig.begun += 1;
    return answered;
  };
  const current = Object.create(encoder, {
    encodeQuery: { value: encodeQuery },
    wordsSearches: { get: () => (rig.told && encoder.wordsSearches ? { search } : undefined) },
    ...Object.fromEntries(
      (['spaces', 'missing', 'fusion', 'vocabulary'] as const).map((name) => [
        name,
        { value: encoder[name] },
      ]),
    ),
    admitQuery: {
      value: (...asked: Parameters<Encoder['admitQuery']>) => encoder.admitQuery(...asked),
    },
  }) as Encoder;
  const searching = new Search({
    tenants,
    owners: new Owners(),
    encoders: { current, search: (_index, _asked, work) => work(current) },
    extractor: {} as Extractor,
  });
  return Object.assign(rig, {
    tenants,
    encoder,
    search: searching,
    append: async (tenant: string, id: string, text: string) => {
      const { text_semantic: vector } = await encoder.encodeQuery('text', text, { tenant });
      await tenants.use(tenant, { create: true }, (shard) =>
        shard.append(itemOf(id), [passage(id, text, { vectors: { text_semantic: vector! } })]),
      );
    },
  });
}

const run = (
  rig: Rig,
  input: SearchInput,
  tenant = 'ws_a',
  signal = new AbortController().signal,
  options = {},
) => rig.search.run(tenant, input, signal, options);

/** All of an answer but its times. */
function shown({ hits, explanation, latency_ms: _, timing: __, ...rest }: SearchResult) {
  return { ...rest, hits: hits.toJSON(), lists: explanation?.lists, segments: explanation?.segments };
}

for (const provider of deep(['native'] as const, ['native', 'cpu'] as const)) {
  const goesOn = provider === 'native';
  const encoder = await openEmbedded({ provider });
  t.teardown(() => encoder.close());

  t.test(`${provider}: an answer is the same, whoever makes it`, async (t) => {
    const rig = rigOf(t, encoder);
    for (const [at, text] of TEXTS.entries()) await rig.append('ws_a', `i${at}`, text);
    for (const input of QUERIES) {
      rig.told = true;
      const before = rig.begun;
      const there = await run(rig, input);
      t.equal(rig.begun - before, goesOn ? 1 : 0);
      rig.told = false;
      const here = await run(rig, input);
      t.same(shown(there), shown(here));
      t.match(there.explanation?.tasks, [{ kind: 'query_texts', batch: 1 }]);
      const { encode_ms = 0, scan_ms = 0, fuse_ms = 0 } = there.timing;
      t.ok(encode_ms > 0 && scan_ms > 0 && fuse_ms > 0 && encode_ms + scan_ms + fuse_ms <= there.latency_ms);
    }
    t.equal((await run(rig, QUERIES[0]!)).corrected, 'which keeper counts gulls?');
    const [{ item }] = (await run(rig, QUERIES[1]!)).hits.toJSON() as [{ item: { id: string } }];
    t.equal(item.id, 'i2');
  });

  t.test(`${provider}: searches of many tenants at once each have their own answer`, async (t) => {
    const rig = rigOf(t, encoder);
    const tenants = ['ws_a', 'ws_b', 'ws_c'];
    for (const [at, tenant] of tenants.entries()) await rig.append(tenant, `of_${tenant}`, TEXTS[at]!);
    const searches = Array.from({ length: 36 }, async (_, number) => {
      const tenant = tenants[number % 3]!;
      const found = await run(rig, { query: `gulls or bread ${number}`, k: 3 }, tenant);
      const items = found.hits.toJSON() as { item: { id: string } }[];
      t.strictSame(
        items.map(({ item }) => item.id),
        [`of_${tenant}`],
      );
    });
    await Promise.all(searches);
    t.equal(rig.begun, goesOn ? 36 : 0);
  });

  t.test(
    `${provider}: what is certain of its answer has one, and what is refused or has nothing to search is not`,
    async (t) => {
      const rig = rigOf(t, encoder);
      const full = await openEmbedded({ provider, queryQueueMax: 0 });
      t.teardown(() => full.close());
      await rig.append('ws_a', 'a', TEXTS[0]!);
      let certain = 0;
      const asked = [
        { query: 'gulls', k: 9 },
        'ws_a',
        new AbortController().signal,
        { onCertain: () => certain++ },
      ] as const;
      await run(rig, ...asked);
      t.ok(certain > 0);
      certain = 0;
      const none = await run(rig, asked[0], 'ws_none', asked[2], asked[3]);
      await rig.tenants.use('ws_b', { create: true }, () => undefined);
      const empty = await run(rig, asked[0], 'ws_b', asked[2], asked[3]);
      t.match([none, empty], [{ searchable: false }, { searchable: false }]);
      const search = new Search({
        tenants: rig.tenants,
        owners: new Owners(),
        encoders: { current: full, search: (_index, _asked, work) => work(full) },
        extractor: {} as Extractor,
      });
      await t.rejects(search.run(asked[1], asked[0], asked[2], asked[3]), { code: 'overloaded' });
      t.equal(certain, 0);
    },
  );

  t.test(`${provider}: an index that was disposed of meanwhile is empty`, async (t) => {
    const rig = rigOf(t, encoder);
    await rig.append('ws_a', 'a', TEXTS[0]!);
    rig.before = () => rig.tenants.dispose('ws_a');
    t.match(await run(rig, { query: 'gulls', k: 9 }), { searchable: false, reason: 'nothing_searchable' });
  });

  t.test(`${provider}: an index that has another model meanwhile is searched by that`, async (t) => {
    const rig = rigOf(t, encoder);
    await rig.append('ws_a', 'a', TEXTS[0]!);
    const { text_semantic: values } = await encoder.encodeQuery('text', TEXTS[0]!, { tenant: 'ws_a' });
    const [space] = encoder.spaces;
    let changes = 0;
    rig.before = async () => {
      if (changes++ > 0) return;
      const other = { name: space!.name, dimensions: space!.dimensions, modelSha256: 'ef'.repeat(32) };
      const rows = { segments: Uint32Array.of(0), values: values! };
      t.equal(await rig.tenants.changeModel('ws_a', other, rows), true);
    };
    const { hits, searchable } = await run(rig, { query: 'gulls', k: 9 });
    t.same([hits.length, searchable, changes], [1, true, 2], 'encoded again');
  });

  t.test(`${provider}: a search that has begun ends before its index is disposed of`, async (t) => {
    const rig = rigOf(t, encoder);
    await rig.append('ws_a', 'a', TEXTS[0]!);
    const searches = Array.from({ length: 20 }, () => run(rig, { query: 'gulls', k: 9 }));
    await rig.encoder.encodeQuery('text', 'another', { tenant: 'ws_b' });
    await rig.tenants.dispose('ws_a');
    for (const { hits, searchable } of await Promise.all(searches))
      t.equal(hits.length, searchable ? 1 : 0, 'all of it, or nothing');
  });

  t.test(`${provider}: a client that leaves ends its search alone`, async (t) => {
    const rig = rigOf(t, encoder);
    await rig.append('ws_a', 'a', TEXTS[0]!);
    const clients = Array.from({ length: 12 }, () => new AbortController());
    // All are asked in one turn of the event loop, and no answer comes within it.
    let asked = 0;
    rig.before = () => {
      if (++asked < clients.length) return;
      for (const [number, client] of clients.entries()) if (number % 2) client.abort();
    };
    const searches = clients.map(({ signal }, number) =>
      run(rig, { query: `gulls ${number}`, k: 9 }, 'ws_a', signal).then(
        ({ hits }) => hits.length,
        () => 'left',
      ),
    );
    t.strictSame(
      await Promise.all(searches),
      clients.map((_, number) => (number % 2 ? 'left' : 1)),
    );
    t.equal(rig.encoder.queueDepths().queries, 0);
  });
}
