import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ItemId } from '../../src/domain/id.ts';
import type { Encoder } from '../../src/encode/encoder.ts';
import { native } from '../../src/native/index.ts';
import { openTenants, type Tenants } from '../../src/shard/tenants.ts';
import type { SciFact } from '../sets/scifact.ts';
import type { Judged } from './logistic.ts';

/** Passages that are ranked so that enough different abstracts are among them. */
const RANKED = 40;

/** An index of neighbouring abstracts: passages in their order, each with its abstract. */
interface WordIndex {
  readonly tenant: string;
  readonly owners: readonly number[];
}

/**
 * Searches by exact words in indexes of several sizes. A collection's words weigh differently in each, so every size has indexes of its
 * own: the abstracts one after the other, in parts.
 * @returns for each claim the searches of one index with its answer and one without it, for each size; scores as shares of their ceiling
 */
export async function wordResults(
  encoder: Encoder,
  corpus: SciFact,
  sizes: readonly number[],
  depth: number,
): Promise<Judged[][][]> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-words-'));
  const tenants = openTenants({ folder, spaces: [], openShardsMax: 64 });
  try {
    const cut: Cut[] = [];
    for (const { title, text } of corpus.abstracts)
      cut.push(await encoder.cutPassages({ title, blocks: [{ text }] }));
    const queries: Judged[][][] = corpus.claims.map(() => []);
    for (const size of sizes) {
      const parts: WordIndex[] = [];
      for (let from = 0; from < cut.length; from += size)
        parts.push(await fill(tenants, `${size}_${parts.length}`, cut.slice(from, from + size), from));
      for (const [number, claim] of corpus.claims.entries()) {
        const isAnswer = (owner: number) => claim.relevant.has(corpus.abstracts[owner]!.id);
        const at = parts.findIndex(({ owners }) => owners.some(isAnswer));
        const without = parts.find(({ owners }, part) => part > at && !owners.some(isAnswer)) ?? parts[0]!;
        for (const part of parts.length === 1 || at < 0 ? [parts[Math.max(0, at)]!] : [parts[at]!, without])
          queries[number]!.push(await search(tenants, part, claim.text, isAnswer, depth));
      }
    }
    return queries;
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Cut = Awaited<ReturnType<Encoder['cutPassages']>>;

async function fill(
  tenants: Tenants,
  name: string,
  abstracts: readonly Cut[],
  from: number,
): Promise<WordIndex> {
  const tenant = `ws_${name}`;
  const item = `item_${name}`;
  const owners = abstracts.flatMap((passages, index) => passages.map(() => from + index));
  const segments = abstracts.flat().map(({ text, locator, words }, place) => ({
    record: { item, locator, place, text },
    words,
    vectors: {},
  }));
  const record = {
    id: item as ItemId,
    name: `${name}.md`,
    media_type: 'text/markdown',
    bytes: 1,
    sha256: from.toString(16).padStart(64, '0'),
    state: 'searchable' as const,
    families: ['raw'] as const,
    segments: segments.length,
    created_at: '2026-11-21T00:00:00.000Z',
    expires_at: null,
  };
  await tenants.use(tenant, { create: true }, (shard) => shard.append(record, segments));
  return { tenant, owners };
}

async function search(
  tenants: Tenants,
  { tenant, owners }: WordIndex,
  words: string,
  isAnswer: (owner: number) => boolean,
  depth: number,
): Promise<Judged[]> {
  const detected = native.detectLanguage(words);
  const question = { words, ...(detected?.reliable && { language: detected.language }) };
  return tenants.use(tenant, {}, async (shard) => {
    const snapshot = shard.snapshot();
    try {
      const { segments, scores, ceiling } = await snapshot.rank(
        question,
        { depth: RANKED },
        new AbortController().signal,
      );
      const best = new Map<number, number>();
      segments.forEach((segment, rank) => {
        const owner = owners[segment]!;
        if (!best.has(owner)) best.set(owner, Math.min(1, scores[rank]! / (ceiling || 1)));
      });
      return [...best].slice(0, depth).map(([owner, score]) => ({ score, relevant: isAnswer(owner) }));
    } finally {
      snapshot.close();
    }
  });
}
