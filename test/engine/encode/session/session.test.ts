import { join } from 'node:path';
import t from 'tap';
import { readManifest } from '../../../../src/engine/encode/models/read-manifest.ts';
import type { Candidate } from '../../../../src/engine/encode/models/tower.ts';
import type { Feeds, Session } from '../../../../src/engine/encode/session/session.ts';
import { TextRunner } from '../../../../src/engine/encode/text/text-runner.ts';
import { MODELS } from '../rig/embedded.ts';

const candidate: Candidate = {
  provider: 'cpu',
  path: join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx'),
  sha256: '',
  queryRows: 4,
  ingestRows: 1,
  runTokens: 64,
  paddingShare: 0.15,
};

/** A fake session that gives ones, and keeps the shapes and values of its inputs. */
function fakeSession(): Session & { readonly seen: { shape: number[]; mask: number[] }[] } {
  const seen: { shape: number[]; mask: number[] }[] = [];
  return {
    seen,
    run: async (feeds: Feeds, outputs) => {
      const { attention_mask: mask } = feeds;
      seen.push({ shape: [...mask!.dims], mask: Array.from(mask!.data as BigInt64Array, Number) });
      const [dims] = Object.values(outputs);
      return { sentence_embedding: { data: new Float32Array(dims![0]! * dims![1]!).fill(1), dims: dims! } };
    },
    close: async () => {},
  };
}

t.test('with fixed shapes, runs are padded to a width and to a number of rows', async (t) => {
  const { text } = (await readManifest(MODELS)).models.find(({ name }) => name === 'all-MiniLM-L6-v2')!;
  const tower = {
    kind: 'text' as const,
    model: 'm',
    revision: '',
    settings: text!,
    tokenizerPath: join(MODELS, 'all-MiniLM-L6-v2/tokenizer.json'),
    candidates: [],
    searches: [],
  };
  const session = fakeSession();
  const fixed = { ...candidate, queryRows: 8, runTokens: 1024, widths: [8, 256], rowCounts: [1, 4, 8] };
  const runner = new TextRunner(tower, fixed, session);
  const target = new Float32Array(3 * 384);
  for (const texts of [['one two three'], ['a b', 'c d', 'e f'], ['one two three']])
    await runner.encode(texts, 'query', target, 0, 384);
  t.strictSame(
    session.seen.map(({ shape }) => shape),
    [
      [1, 8],
      [4, 8],
      [1, 8],
    ],
  );
  t.strictSame(session.seen[1]!.mask.slice(24), [1, 0, 0, 0, 0, 0, 0, 0], 'a padding row has one token');
  t.strictSame(session.seen[0]!.mask, [1, 1, 1, 1, 1, 0, 0, 0]);
});
