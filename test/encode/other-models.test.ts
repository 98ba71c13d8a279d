import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { Manifest, ManifestModel } from '../../src/encode/manifest.ts';
import { native } from '../../src/native/index.ts';
import { clipTokenizer } from './clip-tokenizer.ts';
import { CACHE, cosine, MODELS, openEmbedded, SHARED } from './embedded.ts';
import { pictureModel, textModel } from './onnx-file.ts';
import '../teardown-order.ts';

const shared = join(SHARED, 'models');
const skip = existsSync(shared) ? false : `${shared} is not here`;
const tenant = 'ws_test';
const calibration = { a: 10, b: -5, of: 'score' as const };
const list = { weight: 1, calibration };

/** Lays files of some models into a folder beside the embedded ones, and lists the models in its manifest. */
async function folderOf(
  folder: string,
  models: readonly ManifestModel[],
  contents: Readonly<Record<string, Uint8Array>>,
  use: Manifest['use'],
): Promise<void> {
  const manifest = JSON.parse(await readFile(join(MODELS, 'manifest.json'), 'utf8')) as Manifest;
  for (const name of ['all-MiniLM-L6-v2', 'mobilenet-v2'])
    await symlink(join(MODELS, name), join(folder, name));
  for (const [path, bytes] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  await writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify({ ...manifest, use, models: [...manifest.models, ...models] }),
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

t.test(
  "a model of CLIP's shape has one space for words and pictures, through the same code",
  { skip },
  async (t) => {
    const [dimensions, folder] = [512, t.testdir()];
    const tokenizer = Buffer.from(
      clipTokenizer(await readFile(join(shared, 'clip-tokenizer/bpe_simple_vocab_16e6.txt.gz'))),
    );
    const contents = {
      'clip/text.onnx': textModel(dimensions),
      'clip/picture.onnx': pictureModel(dimensions),
      'clip/tokenizer.json': tokenizer,
    };
    const clip: ManifestModel = {
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
    await folderOf(folder, [clip], contents, { text_semantic: 'all-MiniLM-L6-v2', visual: 'clip-shaped' });

    const path = join(folder, 'clip/tokenizer.json');
    const rules = { limit: 77, specialTokens: true, dropped: [] };
    const batch = new native.TextTokenizer(path, rules).encode(['a photo of a cat'], '');
    const [ids, mask] = [new BigInt64Array(7), new BigInt64Array(7)];
    batch.fill(Uint32Array.of(0), 7, 0, ids, mask);
    t.strictSame([...ids].map(Number), [49406, 320, 1125, 539, 320, 2368, 49407], 'the ids that CLIP gives');

    const encoder = await openEmbedded({ modelsFolder: folder, cacheFolder: join(folder, 'cache') });
    t.teardown(() => encoder.close());
    t.match(encoder.families[0], { model: 'clip-shaped', words: true, pictures: true });
    t.strictSame(
      encoder.spaces.map((space) => [space.name, space.dimensions]),
      [
        ['text_semantic', 384],
        ['visual_picture', 512],
      ],
    );
    t.match(encoder.fusion.lists, {
      visual_words: { space: 'visual_picture' },
      visual_picture: { space: 'visual_picture' },
    });
    t.match(encoder.pictureSpec, { fit: 'cover', resample: 'cubic' });
    const query = await encoder.encodeQuery('a photo of a cat', { tenant });
    t.strictSame(Object.keys(query).sort(), ['text_semantic', 'visual_picture']);
    const many = await Promise.all(
      ['a dog', 'a photo of a cat', 'x '.repeat(500)].map((text) => encoder.encodeQuery(text, { tenant })),
    );
    t.ok(cosine(many[1]!.visual_picture!, query.visual_picture!) > 0.99999, 'padding does not show');
    t.ok(Math.abs(cosine(many[2]!.visual_picture!, many[2]!.visual_picture!) - 1) < 1e-5);
    const { visual_picture: pictures } = await encoder.encodePictures(
      [{ rgb: new Uint8Array(224 * 224 * 3).fill(200) }],
      { tenant },
    );
    t.equal(pictures![0]!.length, 512);
    t.strictSame(
      Object.keys(await encoder.encodePassages(['some words'], { tenant })),
      ['text_semantic'],
      'passages go to text alone',
    );
  },
);

t.test(
  'a static text model of other dimensions serves text, and MiniLM the words of pictures',
  { skip },
  async (t) => {
    const folder = t.testdir();
    const name = 'potion-base-2M';
    const [weights, tokenizer] = await Promise.all(
      ['model_int8.onnx', 'tokenizer.json'].map((file) => readFile(join(shared, name, file))),
    );
    const contents = { 'potion/model.onnx': weights!, 'potion/tokenizer.json': tokenizer! };
    const potion: ManifestModel = {
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
    await folderOf(folder, [potion], contents, { text_semantic: name, visual: 'mobilenet-v2' });
    const encoder = await openEmbedded({ modelsFolder: folder, cacheFolder: CACHE });
    t.teardown(() => encoder.close());
    t.strictSame(
      encoder.spaces.map((space) => [space.name, space.dimensions]),
      [
        ['text_semantic', 64],
        ['visual_picture', 1280],
        ['visual_words', 384],
      ],
    );
    const [cat, kitten, bond] = await Promise.all(
      ['a cat sleeps', 'a sleeping kitten', 'the yield of a bond'].map((text) =>
        encoder.encodeQuery(text, { tenant }),
      ),
    );
    t.ok(
      cosine(cat!.text_semantic!, kitten!.text_semantic!) > cosine(cat!.text_semantic!, bond!.text_semantic!),
    );
    t.equal(cat!.visual_words!.length, 384);
    const { text_semantic: passages } = await encoder.encodePassages(['a cat sleeps', 'zzzzqqqq', ''], {
      tenant,
    });
    t.ok(cosine(passages![0]!, cat!.text_semantic!) > 0.9999);
  },
);
