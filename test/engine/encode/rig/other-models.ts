import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest, ManifestModel } from '../../../../src/engine/encode/models/manifest.ts';
import { clipTokenizer } from './clip-tokenizer.ts';
import { MODELS, SHARED } from './embedded.ts';
import { pictureModel, textModel } from './onnx-file.ts';

/** A model that is not in the tree, and its files by their paths. */
export interface OtherModel {
  readonly model: ManifestModel;
  readonly contents: Readonly<Record<string, Uint8Array>>;
}

const shared = join(SHARED, 'models');
const calibration = { a: 10, b: -5 };
const list = { weight: 1, calibration };

/** Writes the files of models into a folder beside the embedded ones, and lists the models in its manifest. */
export async function folderOf(
  folder: string,
  others: readonly OtherModel[],
  use: Manifest['use'],
): Promise<void> {
  const manifest = JSON.parse(await readFile(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  for (const name of ['all-MiniLM-L6-v2', 'multilingual-e5-small', 'mobilenet-v2'])
    await symlink(join(MODELS, name), join(folder, name));
  for (const [path, bytes] of others.flatMap(({ contents }) => Object.entries(contents))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  await writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify({ ...manifest, use, models: [...manifest.models, ...others.map(({ model }) => model)] }),
  );
}

const fileOf = (path: string, bytes: Uint8Array) => ({
  path,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});
const cpu = (file: string, rows: number) => ({
  providers: ['cpu' as const],
  file,
  query_rows: rows,
  ingest_rows: rows,
});

/** A static text model of 64 dimensions. */
export async function potion(): Promise<OtherModel> {
  const name = 'potion-base-2M';
  const [weights, tokenizer] = await Promise.all(
    ['model_int8.onnx', 'tokenizer.json'].map((file) => readFile(join(shared, name, file))),
  );
  const contents = { 'potion/model.onnx': weights!, 'potion/tokenizer.json': tokenizer! };
  const model: ManifestModel = {
    name,
    family: 'text_semantic',
    revision: 'int8',
    licence: 'MIT',
    source: 'https://huggingface.co/minishlab/potion-base-2M',
    files: {
      model: fileOf('potion/model.onnx', weights!),
      tokenizer: fileOf('potion/tokenizer.json', tokenizer!),
    },
    text: {
      tokenizer: 'tokenizer',
      limit: 512,
      special_tokens: false,
      dropped_tokens: [1],
      padding_token: 0,
      query_prefix: '',
      passage_prefix: '',
      inputs: { ids: 'input_ids', mask: 'attention_mask' },
      output: 'sentence_embedding',
      pooling: 'none',
      normalise: true,
      dimensions: 64,
      languages: ['eng'],
      variants: [{ ...cpu('model', 32), run_tokens: 4096, padding_share: 0.15 }],
    },
    lists: { text_semantic: list },
  };
  return { model, contents };
}

/** MiniLM's text part with weights that give a vector of 8 dimensions for each token; the variant states the differences. */
export async function tokenVectors(): Promise<OtherModel> {
  const manifest = JSON.parse(await readFile(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  const { text, files } = manifest.models.find(({ name }) => name === 'all-MiniLM-L6-v2')!;
  const weights = textModel(8);
  const model: ManifestModel = {
    name: 'token-vectors',
    family: 'text_semantic',
    revision: 'random',
    licence: 'none',
    source: 'made by this test',
    files: { model: fileOf('tokens/model.onnx', weights), tokenizer: files.tokenizer! },
    text: {
      ...text!,
      dimensions: 8,
      variants: [
        {
          ...cpu('model', 4),
          run_tokens: 1024,
          inputs: { ids: 'input_ids' },
          output: 'last_hidden_state',
          pooling: 'mean',
        },
      ],
    },
    lists: { text_semantic: list },
  };
  return { model, contents: { 'tokens/model.onnx': weights } };
}

/** A joint model of CLIP's shapes with random weights and CLIP's own tokenizer. */
export async function clip(): Promise<OtherModel> {
  const dimensions = 512;
  const tokenizer = Buffer.from(
    clipTokenizer(await readFile(join(shared, 'clip-tokenizer/bpe_simple_vocab_16e6.txt.gz'))),
  );
  const contents = {
    'clip/text.onnx': textModel(dimensions),
    'clip/picture.onnx': pictureModel(dimensions),
    'clip/tokenizer.json': tokenizer,
  };
  const model: ManifestModel = {
    name: 'clip-shaped',
    family: 'visual',
    revision: 'random',
    licence: 'none',
    source: 'made by this test',
    files: {
      text: fileOf('clip/text.onnx', contents['clip/text.onnx']),
      picture: fileOf('clip/picture.onnx', contents['clip/picture.onnx']),
      tokenizer: fileOf('clip/tokenizer.json', tokenizer),
    },
    text: {
      tokenizer: 'tokenizer',
      limit: 77,
      special_tokens: true,
      dropped_tokens: [],
      padding_token: 0,
      query_prefix: '',
      passage_prefix: '',
      inputs: { ids: 'input_ids' },
      output: 'last_hidden_state',
      pooling: 'last',
      normalise: true,
      dimensions,
      languages: ['eng'],
      variants: [{ ...cpu('text', 16), run_tokens: 2048, padding_share: 0.15 }],
    },
    picture: {
      width: 224,
      height: 224,
      fit: 'cover',
      resample: 'cubic',
      layout: 'nchw',
      mean: [0.48145466, 0.4578275, 0.40821073],
      std: [0.26862954, 0.26130258, 0.27577711],
      input: 'pixel_values',
      output: 'image_embeds',
      normalise: true,
      dimensions,
      variants: [cpu('picture', 4)],
    },
    lists: { visual_words: list, visual_picture: list },
  };
  return { model, contents };
}
