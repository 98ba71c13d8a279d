import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { servedLists } from '../../src/engine/search/lists.ts';
import { nativePlan } from '../../src/engine/search/plan.ts';
import { isQuestion } from '../../src/engine/search/search.ts';
import { openTenants, type Tenants } from '../../src/engine/shard/tenants.ts';
import { native } from '../../src/native/index.ts';
import type { ItemId } from '../../src/protocol/id.ts';
import type { Collection } from './collection.ts';
import type { Asked } from './questions.ts';

/** Evidence of one list for a place: `ListEvidence` in `native/core/src/search/evidence.rs`. */
export interface ListEvidence {
  readonly score: number;
  readonly held: number;
  readonly lacks: number;
  readonly coincidental: number;
  readonly written: boolean;
  readonly segment: number;
  readonly note: boolean;
  readonly rank: number | null;
}

/** Values to compare a list's scores with: `Scale` there. */
export interface Scale {
  readonly foreign: boolean;
  readonly information: number;
  readonly words: number;
  readonly sample: { readonly count: number; readonly mean: number; readonly deviation: number };
}

/** Evidence of all lists for places: `Evidence` there. */
export interface Evidence {
  readonly scales: readonly Scale[];
  readonly candidates: readonly {
    readonly place: number;
    readonly moment: number;
    readonly size: number;
    readonly first: number;
    readonly segments: number;
  }[];
  /** For each candidate in turn the evidence of each list. */
  readonly said: readonly (ListEvidence | null)[];
}

/** A place as the lists see it: by words, and by meaning. */
export interface DumpedPlace {
  readonly document: number;
  readonly words?: ListEvidence;
  readonly meaning?: ListEvidence;
}

/** One query of one index, with all that the model may know. */
export interface DumpedQuery {
  readonly id: string;
  /** It asks something. */
  readonly asks: boolean;
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
  const lists = [served.get('raw_words')!, served.get('text_semantic')!];
  const plan = nativePlan(lists, encoder.fusion);
  const query = new native.NativeSearch(plan, DEPTH, DEPTH, false, 0, false, null);
  query.askWords(text, encoder.vocabulary, false);
  return tenants.use(tenant, {}, async (shard) => {
    const snapshot = shard.snapshot();
    try {
      const vectors = [{ list: 1, space: 'text_semantic', vector }];
      const { scales, candidates, said } = JSON.parse(snapshot.evidence(query, vectors)) as Evidence;
      const places = candidates.map(({ place }, at) => ({
        document: owners[place]!,
        words: said[2 * at] ?? undefined,
        meaning: said[2 * at + 1] ?? undefined,
      }));
      const [words, meaning] = scales;
      return {
        id,
        asks: isQuestion(text),
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
