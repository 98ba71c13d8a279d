import { join, resolve } from 'node:path';
import { nativeCandidate } from '../../src/engine/encode/models/native-weights.ts';
import { readManifest } from '../../src/engine/encode/models/read-manifest.ts';
import type { Candidate, TextTower } from '../../src/engine/encode/models/tower.ts';
import { openSession } from '../../src/engine/encode/session/session.ts';
import { NativeTextRunner } from '../../src/engine/encode/text/native-text-runner.ts';
import { TextRunner } from '../../src/engine/encode/text/text-runner.ts';
import { whereOf } from '../sets/where.js';

const MODELS = resolve(import.meta.dirname, '../../models');
/** Weights of f32, which are not in the tree. */
const F32 = whereOf('all-MiniLM-L6-v2/model_fp32.onnx');

/** One text model in this thread. */
export type TextModel = TextRunner | NativeTextRunner;

/** The shipped text model by each encoder, with the settings that the server runs it with. */
export async function openModels(): Promise<{
  readonly native: TextModel;
  readonly runtime: TextModel;
  /** Absent where its weights are not installed. */
  readonly f32?: TextModel;
}> {
  const manifest = await readManifest(MODELS);
  const model = manifest.models.find(({ name }) => name === manifest.use.text_semantic)!;
  const variant = model.text!.variants.find(({ providers }) => providers.includes('cpu'))!;
  const { path, sha256 } = model.files[variant.file]!;
  const candidate: Candidate = {
    provider: 'cpu',
    path: join(MODELS, path),
    sha256: sha256!,
    queryRows: 16,
    ingestRows: 8,
    runTokens: 4096,
    paddingShare: 1,
    sessionOptions: variant.session_options,
  };
  const tower: TextTower = {
    kind: 'text',
    model: model.name,
    revision: model.revision,
    settings: model.text!,
    tokenizerPath: join(MODELS, model.files[model.text!.tokenizer]!.path),
    candidates: [candidate],
    searches: [],
  };
  const open = async (of: Candidate) => new TextRunner(tower, of, await openSession(of));
  return {
    native: await NativeTextRunner.open(tower, nativeCandidate(candidate)),
    runtime: await open(candidate),
    ...(F32 !== undefined ? { f32: await open({ ...candidate, path: F32 }) } : {}),
  };
}

/** Vectors of texts, one at a time: int8 activations of ONNX Runtime are scaled over a whole run. */
export async function vectorsOf(model: TextModel, texts: readonly string[]): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (const text of texts) {
    const vector = new Float32Array(model.dimensions);
    await model.encode([text], 'query', vector, 0, vector.length);
    vectors.push(vector);
  }
  return vectors;
}
