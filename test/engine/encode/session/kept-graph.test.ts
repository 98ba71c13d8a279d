import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Candidate } from '../../../../src/engine/encode/models/tower.ts';
import { KeptTensor } from '../../../../src/engine/encode/session/kept-tensor.ts';
import { openSession } from '../../../../src/engine/encode/session/session.ts';
import { MODELS } from '../rig/embedded.ts';

const SHA256 = 'a'.repeat(64);

function candidateIn(graphsFolder: string | undefined): Candidate {
  return {
    provider: 'cpu',
    path: join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx'),
    sha256: SHA256,
    ...(graphsFolder === undefined ? {} : { graphsFolder }),
    queryRows: 1,
    ingestRows: 1,
    runTokens: 64,
    paddingShare: 0.15,
  };
}

async function vectorOf(t: Test, candidate: Candidate): Promise<number[]> {
  const session = await openSession(candidate);
  t.teardown(() => session.close());
  const [ids, mask] = [new KeptTensor('int64', 8), new KeptTensor('int64', 8)].map((kept) => kept.of([1, 8]));
  KeptTensor.data<BigInt64Array>(ids!).set([101n, 2054n, 2003n, 1996n, 2051n, 2182n, 1029n, 102n]);
  KeptTensor.data<BigInt64Array>(mask!).fill(1n);
  const found = await session.run(
    { input_ids: ids!, attention_mask: mask! },
    { sentence_embedding: [1, 384] },
  );
  return [...found.sentence_embedding!.data];
}

t.test('a kept graph gives exactly the numbers of its weights', async (t) => {
  const folder = join(t.testdir({}), 'graphs');
  const plain = await vectorOf(t, candidateIn(undefined));
  t.strictSame(await vectorOf(t, candidateIn(folder)), plain, 'when it is made');
  const [name, ...more] = readdirSync(folder);
  t.same(more, [], 'one file, and nothing half written');
  t.ok(name!.startsWith(SHA256));
  t.strictSame(await vectorOf(t, candidateIn(folder)), plain, 'when it is there');
});

t.test('an unreadable kept graph is replaced, and one of another runtime removed', async (t) => {
  const folder = t.testdir({
    [`${SHA256}-other.onnx`]: 'of another processor',
    'b.onnx': 'of other weights',
  });
  const plain = await vectorOf(t, candidateIn(folder));
  const name = readdirSync(folder).find((one) => one.startsWith(SHA256))!;
  t.same(readdirSync(folder).sort(), [name, 'b.onnx'].sort());
  const whole = readFileSync(join(folder, name));
  truncateSync(join(folder, name), 1000);
  t.strictSame(await vectorOf(t, candidateIn(folder)), plain);
  t.equal(readFileSync(join(folder, name)).length, whole.length);
});
