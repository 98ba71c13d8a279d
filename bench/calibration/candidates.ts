import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ItemId } from '../../src/domain/id.ts';
import type { Encoder } from '../../src/encode/encoder.ts';
import { native } from '../../src/native/index.ts';
import { type EvidenceList, evidenceOf, type ListEvidence, type Scale } from '../../src/search/evidence.ts';
import { servedLists } from '../../src/search/lists.ts';
import { listQueryOf } from '../../src/search/query-vectors.ts';
import { isForeign } from '../../src/search/relevance.ts';
import { openTenants, type Tenants } from '../../src/shard/tenants.ts';
import type { Collection } from './collection.ts';
import type { Asked } from './questions.ts';

/** A place as the lists see it: by words, and by meaning. */
export interface DumpedPlace {
  readonly document: number;
  readonly words?: ListEvidence;
  readonly meaning?: ListEvidence;
}

/** One query of one index, with all that the model may know. */
export interface DumpedQuery {
  readonly id: string;
  /** Segments of the index. */
  readonly segments: number;
  readonly words: Scale;
  readonly meaning: Scale;
  readonly relevant: readonly number[];
  readonly places: readonly DumpedPlace[];
}

const DEPTH = 100;
/** Items that are appended at once. */
const AT_ONCE = 200;

/** Searches indexes that are made of a collection's documents. */
export async function dumpCandidates(
  encoder: Encoder,
  collection: Collection,
  indexes: readonly { readonly documents: readonly number[]; readonly queries: readonly Asked[] }[],
): Promise<DumpedQuery[]> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-candidates-'));
  const tenants = openTenants({ folder, spaces: encoder.spaces, openShardsMax: 4 });
  const starts = startsOf(collection);
  const dumped: DumpedQuery[] = [];
  try {
    for (const [number, { documents, queries }] of indexes.entries()) {
      const tenant = `ws_${number}`;
      const owners = await fill(tenants, tenant, collection, documents, starts);
      for (const query of queries)
        dumped.push(await search(encoder, tenants, tenant, query, owners, new Set(documents)));
      if (indexes.length > 8) await tenants.dispose(tenant);
    }
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return dumped;
}

function startsOf({ passages }: Collection): number[] {
  let start = 0;
  return passages.map((of) => {
    start += of.length;
    return start - of.length;
  });
}

async function fill(
  tenants: Tenants,
  tenant: string,
  { titles, passages, rows, dimensions }: Collection,
  documents: readonly number[],
  starts: readonly number[],
): Promise<number[]> {
  const owners: number[] = [];
  await tenants.use(tenant, { create: true }, async (shard) => {
    // Many at once share a transaction: each would be durable by itself, which takes milliseconds.
    for (let from = 0; from < documents.length; from += AT_ONCE)
      await Promise.all(
        documents.slice(from, from + AT_ONCE).map((document) => {
          const item = `item_${document}`;
          const segments = passages[document]!.map(({ text, words, locator, place }, row) => {
            owners.push(document);
            const start = (starts[document]! + row) * dimensions;
            return {
              record: { item, locator, place, text },
              words,
              vectors: { text_semantic: rows.subarray(start, start + dimensions) },
            };
          });
          const title = titles[document];
          return shard.append(
            {
              id: item as ItemId,
              name: `${item}.md`,
              media_type: 'text/markdown',
              bytes: 1,
              sha256: document.toString(16).padStart(64, '0'),
              state: 'searchable',
              families: ['raw', 'text_semantic'],
              segments: segments.length,
              created_at: '2026-11-21T00:00:00.000Z',
              expires_at: null,
              ...(title && { title }),
            },
            segments,
          );
        }),
      );
    await shard.whenIdle();
  });
  return owners;
}

async function search(
  encoder: Encoder,
  tenants: Tenants,
  tenant: string,
  { id, text, vector, relevant }: Asked,
  owners: readonly number[],
  inside: ReadonlySet<number>,
): Promise<DumpedQuery> {
  const served = servedLists(encoder);
  const language = native.detectLanguage(text);
  return tenants.use(tenant, {}, async (shard) => {
    const snapshot = shard.snapshot();
    try {
      const lists: EvidenceList[] = [];
      for (const name of ['raw_words', 'text_semantic'] as const) {
        const list = served.get(name)!;
        const vectors = { vectors: { text: { text_semantic: vector } } };
        const query = listQueryOf(list, { words: text, language }, vectors);
        const ranking = await snapshot.rank(query, { depth: DEPTH }, new AbortController().signal);
        lists.push({
          list,
          ranking,
          rate: (segments) => snapshot.rate(query, segments),
          foreign: isForeign(list, language),
        });
      }
      const { scales, candidates } = evidenceOf(lists, DEPTH);
      const places = candidates.map(({ place, evidence }) => ({
        document: owners[place]!,
        words: evidence.get('raw_words'),
        meaning: evidence.get('text_semantic'),
      }));
      const [words, meaning] = scales;
      return {
        id,
        segments: snapshot.counts().segments,
        words: words!,
        meaning: meaning!,
        relevant: relevant.filter((document) => inside.has(document)),
        places,
      };
    } finally {
      snapshot.close();
    }
  });
}
