import { spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { deep } from '../../../rig/deep.ts';
import { itemOf, openWithGraphs, passage, towards } from '../fixtures.ts';
import '../../../rig/teardown-order.ts';

/** `make damage-index` tries 1,000 cases. */
const CASES = Number(process.env.CASES ?? deep(100, 1000));
const SEED = process.env.SEED ?? '1';
const READER = join(import.meta.dirname, 'reader.ts');

/** An index with everything in it: merged and small blocks, large values, removals, free pages. */
async function writeGood(folder: string): Promise<string> {
  const tenants = openWithGraphs(folder);
  await tenants.use('ws_a', { create: true }, async (shard) => {
    for (let number = 0; number < 40; number += 1) {
      const id = `i${number}`;
      const segments = Array.from({ length: 1 + (number % 20) }, (_, index) =>
        passage(id, `w${number} common words ${`and ${index} `.repeat(number * 8)}`, {
          place: index,
          vectors: { text_semantic: towards(number + index / 30) },
          ...(index === 0 && {
            fingerprint: new Uint8Array(16).fill(0x5a),
            digest: new Uint8Array(32).fill(number),
          }),
        }),
      );
      await shard.append(itemOf(id, { segments: segments.length }), segments);
      if (number % 7 === 6) await shard.removeItem(`i${number - 3}`);
    }
  });
  await tenants.close();
  const file = join(folder, 'good.mdb');
  cpSync(join(folder, 'ws_a', 'shard', 'data.mdb'), file);
  return file;
}

t.test(`${CASES} damaged index files give an error or the right answer, and no crash`, async (t) => {
  const folder = t.testdir();
  const file = await writeGood(folder);
  const copies = join(folder, 'copies');
  mkdirSync(copies);
  const child = spawn(process.execPath, [READER, file, copies, SEED, '0', String(CASES)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
  const kinds = new Map<string, string>();
  const wrong: string[] = [];
  const noticed = new Map<string, number>();
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    const [, number = '', ...rest] = line.split(' ');
    if (line.startsWith('case')) kinds.set(number, rest.join(' '));
    else {
      const kind = kinds.get(number)!;
      if (line.includes('different')) wrong.push(`${number} (${kind}): ${rest.join(' ')}`);
      if (rest[0] !== 'same') noticed.set(kind, (noticed.get(kind) ?? 0) + 1);
    }
  }
  t.equal(await ended, 0, `the process ends by itself; its last words: ${last}`);
  t.equal(kinds.size, CASES);
  t.same(wrong, [], `seed ${SEED}`);
  const of = (kind: string) => [...kinds.values()].filter((other) => other === kind).length;
  for (const kind of [
    'a future version of the file',
    'a future version of the index',
    'a future version of a block',
    'empty',
  ])
    t.equal(noticed.get(kind), of(kind), `${kind} is noticed each time`);
  t.ok((noticed.get('cut short') ?? 0) > 0, `cut short was noticed ${noticed.get('cut short')} times`);
});
