import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Shard } from '../../src/engine/shard/shard.ts';
import { openTenants } from '../../src/engine/shard/tenants.ts';
import { quantile } from '../rig/agent.ts';
import { benchItem } from './engines.ts';
import { recombined } from './sentences.ts';

/**
 * Lines by patterns over so many passages: sentences of the set, recombined, a line each. Each hundredth passage has a function, each
 * ten thousandth a rare name. One client; a hundred lines.
 */
const { ROWS = '100000' } = process.env;
const BATCH = 4096;
const ROUNDS = 10;
const PATTERNS: Readonly<Record<string, readonly [pattern: string, ignoreCase: boolean]>> = {
  rare: ['zorbinsky_total', false],
  rare_ignoring_case: ['zorbinsky_TOTAL', true],
  nowhere: ['zorbinsky_nothing', false],
  common: ['\\bthe\\b', false],
  function: ['\\bfn \\w+\\(', false],
  rare_function: ['\\bfn \\w+\\(zor', false],
  no_literal: ['\\d{7}[A-Z]{7}', false],
};

async function fill(shard: Shard, count: number, passage: () => string): Promise<number> {
  let bytes = 0;
  for (let from = 0; from < count; from += BATCH) {
    const id = `i${from}`;
    const segments = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => {
      const row = from + at;
      const code = row % 100 === 99 ? `\nfn call_${row}(path) {` : '';
      const rare = row % 10_000 === 9_999 ? '\nlet zorbinsky_total = 1;' : '';
      const text = passage().replaceAll('. ', '.\n') + code + rare;
      bytes += text.length;
      return { record: { item: id, locator: { char_start: 0 }, place: at, text }, words: 'x', vectors: {} };
    });
    await shard.append(benchItem(id, segments.length), segments);
  }
  await shard.whenIdle();
  return bytes;
}

async function figures(count: number): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const tenants = openTenants({ folder, spaces: [], openShardsMax: 1 });
  const never = new AbortController().signal;
  try {
    const { passage } = await recombined(5);
    return await tenants.use('ws_lines', { create: true }, async (shard) => {
      const bytes = await fill(shard, count, passage);
      const ask = async ([pattern, ignoreCase]: readonly [string, boolean]) => {
        const snapshot = shard.snapshot();
        const began = performance.now();
        const { lines } = await snapshot.grep({ pattern, ignoreCase, linesMax: 100 }, null, never);
        const ms = performance.now() - began;
        snapshot.close();
        return { ms, lines: lines.length };
      };
      const shown: [string, object][] = [];
      for (const [name, pattern] of Object.entries(PATTERNS)) {
        // The first of all compares checksums.
        const { ms: first_ms } = await ask(pattern);
        const asked = [];
        for (let round = 0; round < ROUNDS; round += 1) asked.push(await ask(pattern));
        const p50_ms = quantile(
          asked.map(({ ms }) => ms),
          0.5,
        );
        shown.push([name, { first_ms, p50_ms, lines: asked[0]!.lines }]);
      }
      return { rows: count, bytes, ...Object.fromEntries(shown) };
    });
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const lines: object[] = [];
for (const rows of ROWS.split(',').map(Number)) lines.push(await figures(rows));
export const facts = { lines };
