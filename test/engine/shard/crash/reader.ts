import { mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Shard } from '../../../../src/engine/shard/shard.ts';
import type { Tenants } from '../../../../src/engine/shard/tenants.ts';
import { errorCode } from '../../../../src/protocol/error.ts';
import { Random } from '../../../rig/random.ts';
import { itemOf, open, passage, towards } from '../fixtures.ts';
import { DAMAGES } from './damage.ts';

/**
 * Damages copies of an index file and asks each every query: node reader.ts FILE FOLDER SEED FROM TO. Prints each case before,
 * and its outcome afterwards: `same`, `different`, or the codes of the errors.
 */
const [file = '', folder = '', seed = '1', from = '0', to = '0'] = process.argv.slice(2);
const good = readFileSync(file);
const say = (line: string): void => void writeSync(1, `${line}\n`);

/** Everything that checksums cover: each query with its answer, or its error's code. */
function answersOf(shard: Shard): Map<string, unknown> {
  const answers = new Map<string, unknown>();
  const ask = (name: string, question: () => unknown): void => {
    try {
      answers.set(name, question());
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      answers.set(name, `error ${code}`);
    }
  };
  ask('items', () => shard.items({ limit: 1_000 }));
  const snapshot = shard.snapshot();
  const list = (name: string, search: () => { segments: Uint32Array; scores: Float32Array }) =>
    ask(name, () => {
      const { segments, scores } = search();
      return [...segments].map((segment, at) => [segment, scores[at]]);
    });
  ask('counts', () => snapshot.counts());
  list('vector', () => snapshot.searchVector('text_semantic', towards(0.3), 50));
  for (const word of ['common', 'w3', 'w17', '"common words"'])
    list(word, () => snapshot.searchWords(word, 2_000));
  list('picture', () => snapshot.searchPicture(new Uint8Array(16).fill(0x5a), new Uint8Array(32).fill(7), 5));
  ask('records', () => snapshot.hits(Uint32Array.from(Array(600).keys())));
  snapshot.close();
  return answers;
}

async function outcomeOf(tenants: Tenants, tenant: string, truth: Map<string, unknown>): Promise<string> {
  const outcomes = new Set<string>();
  const codes = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      outcomes.add(code);
    }
  };
  await codes(() =>
    tenants.use(tenant, { create: true }, async (shard) => {
      for (const [name, answer] of answersOf(shard)) {
        if (typeof answer === 'string') outcomes.add(answer.slice('error '.length));
        else if (!isDeepStrictEqual(answer, truth.get(name))) outcomes.add(`different:${name}`);
      }
      // Writing to the damaged index must not end the process either.
      await codes(() => shard.append(itemOf('new'), [passage('new', 'common')]));
      await codes(() => shard.removeItem('i3'));
      await codes(async () => shard.item('i4'));
    }),
  );
  await codes(() => tenants.dispose(tenant));
  return outcomes.size === 0 ? 'same' : [...outcomes].sort().join(' ');
}

const tenants = open(folder);
mkdirSync(join(folder, 'ws_good', 'shard'), { recursive: true });
writeFileSync(join(folder, 'ws_good', 'shard', 'data.mdb'), good);
const truth = await tenants.use('ws_good', {}, answersOf);
const kinds = Object.keys(DAMAGES);
for (let number = Number(from); number < Number(to); number += 1) {
  const kind = kinds[number % kinds.length]!;
  const tenant = `ws_${number}`;
  mkdirSync(join(folder, tenant, 'shard'), { recursive: true });
  const damaged = DAMAGES[kind]!(Buffer.from(good), new Random(Number(seed) * 100_000 + number));
  writeFileSync(join(folder, tenant, 'shard', 'data.mdb'), damaged);
  say(`case ${number} ${kind}`);
  say(`came ${number} ${await outcomeOf(tenants, tenant, truth)}`);
  rmSync(join(folder, tenant), { recursive: true, force: true });
}
await tenants.close();
