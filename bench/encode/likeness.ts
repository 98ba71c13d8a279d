import { cosine } from '../../src/engine/encode/workers/choose.ts';
import { mean, ndcg } from '../rig/retrieval.ts';
import { benchSet, firstDocuments } from '../sets/beir.ts';
import { openModels, type TextModel, vectorsOf } from './models.ts';

/**
 * Vectors of the set by the native encoder and by ONNX Runtime's int8, against f32: cosines, and nDCG@10 of a search of all its
 * texts, each cut to the model's limit.
 * @param most number of texts; those that a query is judged by come first
 */
export async function likeness(most: number) {
  const set = await benchSet();
  const models = await openModels();
  const { f32 } = models;
  if (!f32) return undefined;
  const used = firstDocuments(set, most);
  const documents = used.map(({ title, text }) => `${title}\n${text}`);
  const encode = async (model: TextModel) => ({
    documents: await vectorsOf(model, documents),
    queries: await vectorsOf(
      model,
      set.queries.map(({ text }) => text),
    ),
  });
  type Vectors = Awaited<ReturnType<typeof encode>>;
  const reference = await encode(f32);
  const gain = (vectors: Vectors) =>
    mean(
      set.queries.map(({ id }, at) => {
        const scores = vectors.documents.map((vector) => cosine(vector, vectors.queries[at]!));
        const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, 10);
        return ndcg(
          order.map((index) => used[index]!.id),
          set.judgements.get(id)!,
        );
      }),
    );
  const figures = (vectors: Vectors) => {
    const cosines = (['documents', 'queries'] as const).flatMap((of) =>
      vectors[of].map((vector, at) => cosine(vector, reference[of][at]!)),
    );
    return { cosine_mean: mean(cosines), cosine_least: Math.min(...cosines), ndcg_10: gain(vectors) };
  };
  return {
    f32: { ndcg_10: gain(reference) },
    native: figures(await encode(models.native)),
    runtime: figures(await encode(models.runtime)),
  };
}
