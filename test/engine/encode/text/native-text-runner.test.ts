import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { nativeCandidate } from '../../../../src/engine/encode/models/native-weights.ts';
import type { Candidate, TextTower } from '../../../../src/engine/encode/models/tower.ts';
import { openSession } from '../../../../src/engine/encode/session/session.ts';
import { NativeTextRunner } from '../../../../src/engine/encode/text/native-text-runner.ts';
import { TextRunner } from '../../../../src/engine/encode/text/text-runner.ts';
import { cosine, MODELS } from '../rig/embedded.ts';

const TOKENIZER = join(MODELS, 'all-MiniLM-L6-v2/tokenizer.json');
const TEXTS = [
  'cat',
  'How do warm currents change the weather over an island in winter?',
  'A much longer text, which has '.concat('many words about nothing in particular, '.repeat(20)),
];

const cpu = (path: string): Candidate => ({
  provider: 'cpu',
  path,
  sha256: '0'.repeat(64),
  queryRows: 1,
  ingestRows: 1,
  runTokens: 1024,
  paddingShare: 1,
});

function tower(settings: Partial<TextTower['settings']>, candidate: Candidate): TextTower {
  return {
    kind: 'text',
    model: 'test',
    revision: 'test',
    tokenizerPath: TOKENIZER,
    candidates: [candidate],
    searches: ['text_semantic'],
    settings: {
      tokenizer: 'tokenizer',
      limit: 256,
      special_tokens: true,
      dropped_tokens: [],
      padding_token: 0,
      query_prefix: '',
      passage_prefix: '',
      inputs: { ids: 'input_ids', mask: 'attention_mask' },
      output: 'sentence_embedding',
      pooling: 'none',
      normalise: true,
      dimensions: 384,
      variants: [],
      ...settings,
    },
  };
}

async function vectors(
  runner: TextRunner | NativeTextRunner,
  texts: readonly string[],
): Promise<Float32Array[]> {
  const size = runner.dimensions;
  const target = new Float32Array(texts.length * size);
  await runner.encode(texts, 'query', target, 0, size);
  return texts.map((_, row) => target.slice(row * size, (row + 1) * size));
}

t.test('the shipped model: near to ONNX Runtime, and the same bits alone and in a batch', async (t) => {
  const path = join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx');
  const of = tower({}, cpu(path));
  const session = await openSession(cpu(path));
  t.teardown(() => session.close());
  const runner = await NativeTextRunner.open(of, nativeCandidate(cpu(path)));
  const together = await vectors(runner, TEXTS);
  const expected = await vectors(new TextRunner(of, cpu(path), session), TEXTS);
  for (const [row, text] of TEXTS.entries()) {
    t.ok(cosine(together[row]!, expected[row]!) > 0.985);
    t.same((await vectors(runner, [text]))[0], together[row]);
  }
});

t.test('a model of another shape is refused with the reason', async (t) => {
  const file = await readFile(join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx'));
  const path = join(t.testdir(), 'model.onnx');
  for (let at = file.indexOf('Erf'); at >= 0; at = file.indexOf('Erf', at)) file.write('Sin', at);
  await writeFile(path, file);
  const opening = (settings: Partial<TextTower['settings']>, model: string) =>
    NativeTextRunner.open(tower(settings, cpu(model)), nativeCandidate(cpu(model)));
  await t.rejects(opening({}, path), { code: 'models_invalid', message: /Sin where Erf stands/ });
  await t.rejects(opening({}, join(MODELS, 'mobilenet-v2/model.onnx')), { code: 'models_invalid' });
  await t.rejects(opening({}, TOKENIZER), { message: /not .*ONNX model/ });
  await t.rejects(opening({ limit: 600 }, join(MODELS, 'all-MiniLM-L6-v2/model_int8.onnx')), /end at 512/);
});
