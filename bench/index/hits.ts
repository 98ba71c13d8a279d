import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonText } from '../../src/http/exchange/json-text.ts';
import type { Snapshot } from '../../src/shard/snapshot.ts';
import { itemOf, open, passage } from '../../test/shard/fixtures.ts';
import { quantile } from '../rig/agent.ts';
import { benchSet } from '../sets/beir.ts';

/**
 * What one more hit costs, from its stored record to the bytes of the answer, in processor time. Each hit is a text of its own.
 */
const MOST = 30;
const ROUNDS = 9;
const ANSWERS = 1_000;
const EXPIRES_AT = '2026-12-24T18:00:00.000Z';

const { documents, queries } = await benchSet();
export let facts = {};
const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
const tenants = open(folder);
try {
  await tenants.use('ws_bench', { create: true }, async (shard) => {
    for (const { id, title, text } of documents.slice(0, MOST))
      await shard.append(itemOf(id, { title }), [passage(id, text)]);
    const snapshot = shard.snapshot();
    facts = measure(snapshot, queries[3]!.text);
    snapshot.close();
  });
} finally {
  await tenants.close();
  rmSync(folder, { recursive: true, force: true });
}

function measure(snapshot: Snapshot, query: string) {
  const rounds = Array.from({ length: ROUNDS + 1 }, () => ({
    one: microseconds(() => answer(snapshot, query, 1)),
    all: microseconds(() => answer(snapshot, query, MOST)),
  })).slice(1);
  const [one, all] = (['one', 'all'] as const).map((of) =>
    quantile(
      rounds.map((round) => round[of]),
      0.5,
    ),
  );
  return { one_hit_us: one, all_hits_us: all, each_further_hit_us: (all! - one!) / (MOST - 1) };
}

function answer(snapshot: Snapshot, query: string, count: number): string | Uint8Array {
  const segments = Uint32Array.from({ length: count }, (_, segment) => segment);
  return jsonText({ hits: snapshot.hits(segments, { query, expiresAt: EXPIRES_AT }), answered: true });
}

function microseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  for (let done = 0; done < ANSWERS; done += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / ANSWERS;
}
