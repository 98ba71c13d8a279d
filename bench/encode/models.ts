import { join, resolve } from 'node:path';
import { nativeCandidate } from '../../src/engine/encode/models/native-weights.ts';
import { readManifest } from '../../src/engine/encode/models/read-manifest.ts';
import type { Candidate, TextTower } from '../../src/engine/encode/models/tower.ts';
import { openSession } from '../../src/engine/encode/session/session.ts';
import { NativeTextRunner } from '../../src/engine/encode/text/native-text-runner.ts';
import { TextRunner } from '../../src/engine/encode/text/text-runner.ts';

const MODELS = resolve(import.meta.dirname, '../../models');

/** One text model in this thread. */
export type TextModel = TextRunner | NativeTextRunner;

/** The shipped text model by each encoder, with the settings that the server runs it with. */
export async function openModels(): Promise<{
  readonly native: TextModel;
  readonly runtime: TextModel;
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
  return {
    native: await NativeTextRunner.open(tower, nativeCandidate(candidate)),
    runtime: new TextRunner(tower, candidate, await openSession(candidate)),
  };
}
