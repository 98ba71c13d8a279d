import { cosine } from '../../src/encode/workers/choose.ts';
import { mean, ndcg } from '../rig/retrieval.ts';
import { readSciFact } from '../sets/scifact.ts';
import { openModels, type TextModel, vectorsOf } from './native-models.ts';

/**
 * Vectors of SciFact by the native encoder and by ONNX Runtime's int8, against f32: cosines, and nDCG@10 of a search of all
 * abstracts, each cut to the model's limit.
 * @param most number of abstracts; those that a claim is judged by come first
 */
export async function likeness(folder: string, most: number) {
  const { abstracts, claims } = await readSciFact(folder);
  const models = await openModels();
  const { f32 } = models;
  if (!f32) return undefined;
  const judged = new Set(claims.flatMap(({ relevant }) => [...relevant]));
  const used = [...abstracts]
    .sort((a, b) => Number(judged.has(b.id)) - Number(judged.has(a.id)))
    .slice(0, most);
  const documents = used.map(({ title, text }) => `${title}\n${text}`);
  const encode = async (model: TextModel) => ({
    documents: await vectorsOf(model, documents),
    claims: await vectorsOf(
      model,
      claims.map(({ text }) => text),
    ),
  });
  type Vectors = Awaited<ReturnType<typeof encode>>;
  const reference = await encode(f32);
  const gain = (vectors: Vectors) =>
    mean(
      claims.map(({ relevant }, at) => {
        const scores = vectors.documents.map((vector) => cosine(vector, vectors.claims[at]!));
        const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, 10);
        return ndcg(
          order.map((index) => used[index]!.id),
          new Map([...relevant].map((id) => [id, 1])),
        );
      }),
    );
  const figures = (vectors: Vectors) => {
    const cosines = (['documents', 'claims'] as const).flatMap((of) =>
      vectors[of].map((vector, at) => cosine(vector, reference[of][at]!)),
    );
    return { cosine_mean: mean(cosines), cosine_least: Math.min(...cosines), ndcg_10: gain(vectors) };
  };
  return {
    abstracts: used.length,
    claims: claims.length,
    f32: { ndcg_10: gain(reference) },
    native: figures(await encode(models.native)),
    runtime: figures(await encode(models.runtime)),
  };
}
