/**
 * One thread of the encoder: tokenises and runs MiniLM, one text at a time. Dynamic int8 scales activations over a whole batch, so
 * that batching would make a text's vector depend on its neighbours, and on a processor it gains little.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { workerData } from 'piscina';

const TOKENS_MAX = 256;

const read = (name) => JSON.parse(readFileSync(join(workerData.model, name), 'utf8'));
const tokenizer = new Tokenizer(read('tokenizer.json'), {});
const session = await InferenceSession.create(join(workerData.model, 'model_int8.onnx'), {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
});

export default async function encode(text) {
  const { ids } = tokenizer.encode(text);
  // The separator that ends every text stays.
  const kept = ids.length > TOKENS_MAX ? [...ids.slice(0, TOKENS_MAX - 1), ids.at(-1)] : ids;
  const shape = [1, kept.length];
  const { sentence_embedding: output } = await session.run({
    input_ids: new Tensor('int64', BigInt64Array.from(kept, BigInt), shape),
    attention_mask: new Tensor('int64', new BigInt64Array(kept.length).fill(1n), shape),
  });
  // A vector of its own: the output may be the session's memory.
  return Float32Array.from(output.data);
}
