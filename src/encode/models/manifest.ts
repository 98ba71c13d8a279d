import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { FarthingError } from '../../domain/error.ts';
import { type Lock, readLock } from './lock.ts';

const closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });
/** A path below the models folder, without a way out of it. */
const RelativePath = Type.String({ pattern: '^(?!.*(^|/)\\.\\.(/|$))[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$' });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Three = Type.Tuple([Type.Number(), Type.Number(), Type.Number()]);

const ModelFile = closed({
  path: RelativePath,
  /** Both absent: learned at the first pull, and kept in the lock file from then on. */
  sha256: Type.Optional(Sha256),
  bytes: Type.Optional(Count(2 ** 40)),
  /** Path in the hub's repository; absent: the file cannot be pulled. */
  remote: Type.Optional(RelativePath),
});

const Calibration = closed({
  a: Type.Number(),
  b: Type.Number(),
  of: Type.Union([Type.Literal('score'), Type.Literal('log_score'), Type.Literal('share')]),
});

const List = closed({ weight: Type.Number({ minimum: 0, maximum: 100 }), calibration: Calibration });

export const PROVIDERS = ['cuda', 'webgpu', 'cpu'] as const;
const Provider = Type.Union(PROVIDERS.map((name) => Type.Literal(name)));
export type Provider = (typeof PROVIDERS)[number];

/** Weights for some providers, and how they are run there. */
const Variant = closed({
  providers: Type.Array(Provider, { minItems: 1, maxItems: 3, uniqueItems: true }),
  file: Name,
  /** Most rows of one run: queries, and passages or pictures of an ingest. */
  query_rows: Count(1024),
  ingest_rows: Count(1024),
  /** Most tokens of one run, padding included, and its largest share of padding. Pictures have none. */
  run_tokens: Type.Optional(Count(2 ** 20)),
  padding_share: Type.Optional(Share),
  /** Widths that inputs are padded to, so that a GPU plans few shapes. */
  widths: Type.Optional(Type.Array(Count(65_536), { minItems: 1, maxItems: 64 })),
  /** Numbers of rows that a run may have, rising, filled up with empty ones; absent: any. */
  row_counts: Type.Optional(Type.Array(Count(1024), { minItems: 1, maxItems: 64 })),
  provider_options: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  ),
  /** Entries of ONNX Runtime's session configuration, by their whole names. */
  session_options: Type.Optional(
    Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 1_000 })),
  ),
});

const TextInputs = closed({
  ids: Type.String(),
  mask: Type.Optional(Type.String()),
  types: Type.Optional(Type.String()),
});
const Pooling = Type.Union([
  Type.Literal('none'),
  Type.Literal('mean'),
  Type.Literal('cls'),
  Type.Literal('last'),
]);

/** Weights of another export than the part describes say here what is different. */
const TextVariant = closed({
  ...Variant.properties,
  inputs: Type.Optional(TextInputs),
  output: Type.Optional(Type.String()),
  pooling: Type.Optional(Pooling),
});

const Text = closed({
  tokenizer: Name,
  /** Most tokens of one text, special tokens included. */
  limit: Count(65_536),
  special_tokens: Type.Boolean(),
  dropped_tokens: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 64 }),
  padding_token: Type.Integer({ minimum: 0 }),
  query_prefix: Type.String({ maxLength: 1_000 }),
  passage_prefix: Type.String({ maxLength: 1_000 }),
  inputs: TextInputs,
  output: Type.String(),
  pooling: Pooling,
  normalise: Type.Boolean(),
  dimensions: Count(65_536),
  /** ISO 639-3 codes. */
  languages: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]{3}$' }), { minItems: 1 })),
  variants: Type.Array(TextVariant, { minItems: 1 }),
});

/** Words for pictures without a joint model: ConSE (Norouzi et al. 2013, arXiv:1312.5650). */
const Labels = closed({
  file: Name,
  output: Type.String(),
  template: Type.String({ pattern: '\\{label\\}' }),
  weight: Type.Union([Type.Literal('probability'), Type.Literal('sqrt')]),
  top: Count(65_536),
  text_model: Name,
});

const Picture = closed({
  width: Count(4_096),
  height: Count(4_096),
  fit: Type.Union([Type.Literal('cover'), Type.Literal('fill'), Type.Literal('contain')]),
  resample: Type.Union(
    (['nearest', 'linear', 'cubic', 'mitchell', 'lanczos2', 'lanczos3'] as const).map((name) =>
      Type.Literal(name),
    ),
  ),
  layout: Type.Union([Type.Literal('nchw'), Type.Literal('nhwc')]),
  /** Of values 0..1. */
  mean: Three,
  std: Three,
  input: Type.String(),
  output: Type.String(),
  normalise: Type.Boolean(),
  dimensions: Count(65_536),
  labels: Type.Optional(Labels),
  variants: Type.Array(Variant, { minItems: 1 }),
});

/** Where somebody speaks: windows of sound, each with the end of the one before it, and a state from one to the next. */
const Voice = closed({
  file: Name,
  sample_rate: Count(192_000),
  /** Samples of a window, and of the former one before it. */
  window: Count(65_536),
  context: Type.Integer({ minimum: 0, maximum: 65_536 }),
  state: Type.Array(Count(65_536), { minItems: 1, maxItems: 4 }),
  inputs: closed({ sound: Type.String(), state: Type.String(), rate: Type.Optional(Type.String()) }),
  outputs: closed({ probability: Type.String(), state: Type.String() }),
  /** Probabilities at which a stretch begins, and under which it ends; seconds that it must last, or be silent, to count. */
  begins_at: Share,
  ends_below: Share,
  speech_seconds_min: Type.Number({ minimum: 0 }),
  silence_seconds_min: Type.Number({ minimum: 0 }),
});

/** What is said: a Whisper-shaped model, with a decoder that is given all tokens each time. */
const Speech = closed({
  encoder: Name,
  decoder: Name,
  tokenizer: Name,
  sample_rate: Type.Literal(16_000),
  fft: Type.Integer({ minimum: 2, maximum: 65_536, multipleOf: 2 }),
  hop: Count(65_536),
  mel_bins: Count(1_024),
  /** Length of what the encoder takes. */
  seconds: Count(120),
  inputs: closed({ sound: Type.String(), ids: Type.String(), hidden: Type.String() }),
  outputs: closed({ hidden: Type.String(), logits: Type.String() }),
  /** Tokens that the decoder begins with; the one that ends; those that it may not choose. */
  prompt: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 16 }),
  end: Type.Integer({ minimum: 0 }),
  suppressed: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 1_000 }),
  tokens_max: Count(4_096),
});

const Model = closed({
  name: Name,
  family: Type.Union([
    Type.Literal('text_semantic'),
    Type.Literal('visual'),
    Type.Literal('voice'),
    Type.Literal('speech'),
  ]),
  revision: Type.String({ minLength: 1 }),
  licence: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
  /** What an operator should know before using it. */
  note: Type.Optional(Type.String({ maxLength: 1_000 })),
  hub: Type.Optional(
    closed({
      repository: Type.String({ pattern: '^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$' }),
      revision: Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' }),
    }),
  ),
  files: Type.Record(Name, ModelFile),
  /** A `visual` model with both towers has one space for words and pictures. */
  text: Type.Optional(Text),
  picture: Type.Optional(Picture),
  voice: Type.Optional(Voice),
  speech: Type.Optional(Speech),
  lists: closed({
    text_semantic: Type.Optional(List),
    visual_words: Type.Optional(List),
    visual_picture: Type.Optional(List),
  }),
});

const ManifestSchema = closed({
  version: Type.Literal(1),
  /** The model that serves each family. */
  use: closed({
    text_semantic: Type.Optional(Name),
    visual: Type.Optional(Name),
    voice: Type.Optional(Name),
    speech: Type.Optional(Name),
  }),
  /** Words of a passage where no text model is installed. */
  passage_words: Count(10_000),
  fusion: closed({
    depth: Count(10_000),
    unknown_language_share: Share,
    raw_words: List,
    raw_picture: List,
  }),
  models: Type.Array(Model, { maxItems: 100 }),
});

export type Manifest = Static<typeof ManifestSchema>;
export type ManifestModel = Manifest['models'][number];
export type ManifestText = NonNullable<ManifestModel['text']>;
export type ManifestPicture = NonNullable<ManifestModel['picture']>;
export type ManifestSpeech = NonNullable<ManifestModel['speech']>;
export type ManifestVoice = NonNullable<ManifestModel['voice']>;
export type ManifestVariant = ManifestText['variants'][number];
export type ManifestFile = ManifestModel['files'][string];

const MANIFEST_BYTES_MAX = 4 * 2 ** 20;

/**
 * Reads and checks `manifest.json` of a models folder.
 * @throws FarthingError `models_invalid` with the place in the file that is wrong.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, 'manifest.json');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new FarthingError('models_invalid', `${path} cannot be read.`, { cause: error });
  });
  if (text.length > MANIFEST_BYTES_MAX)
    throw new FarthingError('models_invalid', `${path} is over ${MANIFEST_BYTES_MAX} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new FarthingError('models_invalid', `${path} is no JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return withLock(checkManifest(value, path), await readLock(folder), path);
}

/** The manifest with what this installation chose and learned. @throws FarthingError for a choice that leads nowhere */
function withLock(manifest: Manifest, lock: Lock, path: string): Manifest {
  const models = manifest.models.map((model) => ({
    ...model,
    files: Object.fromEntries(
      Object.entries(model.files).map(([name, file]) => [name, { ...lock.files[file.path], ...file }]),
    ),
  }));
  const locked = { ...manifest, use: { ...manifest.use, ...lock.use }, models };
  const problem = brokenReference(locked);
  if (problem) throw new FarthingError('models_invalid', `${path} with its lock file: ${problem}`);
  return locked;
}

/** A value as a manifest: its shape, and that every name in it leads somewhere. */
export function checkManifest(value: unknown, path = 'manifest.json'): Manifest {
  const wrong = Value.Errors(ManifestSchema, value).First();
  if (wrong) throw new FarthingError('models_invalid', `${path}${wrong.path}: ${wrong.message}`);
  const manifest = value as Manifest;
  const problem = brokenReference(manifest);
  if (problem) throw new FarthingError('models_invalid', `${path}: ${problem}`);
  return manifest;
}

function brokenReference(manifest: Manifest): string | undefined {
  const names = new Set(manifest.models.map((model) => model.name));
  if (names.size < manifest.models.length) return 'two models have the same name';
  for (const family of ['text_semantic', 'visual', 'voice', 'speech'] as const) {
    const name = manifest.use[family];
    const model = manifest.models.find((candidate) => candidate.name === name);
    if (name !== undefined && model?.family !== family)
      return `use.${family}: there is no ${family} model "${name}"`;
  }
  for (const model of manifest.models) {
    const problem = brokenModel(model, names);
    if (problem) return `model "${model.name}": ${problem}`;
  }
  return undefined;
}

function brokenHearing(
  { voice, speech, text, picture, files }: ManifestModel,
  family: 'voice' | 'speech',
): string | undefined {
  const others = { voice: speech, speech: voice }[family];
  const names = {
    voice: voice && [voice.file],
    speech: speech && [speech.encoder, speech.decoder, speech.tokenizer],
  }[family];
  if (!names || others || text || picture) return `a ${family} model has a ${family} part alone`;
  const missing = names.find((name) => !Object.hasOwn(files, name));
  return missing === undefined ? undefined : `there is no file "${missing}"`;
}

function brokenModel(model: ManifestModel, names: ReadonlySet<string>): string | undefined {
  const { text, picture, files, lists } = model;
  if (model.family === 'text_semantic' && (!text || picture))
    return 'a text_semantic model has a text part alone';
  if (model.family === 'voice' || model.family === 'speech') return brokenHearing(model, model.family);
  if (model.voice || model.speech) return `a ${model.family} model does not hear`;
  if (model.family === 'visual' && !picture) return 'a visual model has a picture part';
  if (text && picture && text.dimensions !== picture.dimensions)
    return 'both parts of a joint model have the same dimensions';
  if (text && picture?.labels) return 'a joint model needs no labels';
  for (const { path, sha256, bytes } of Object.values(files))
    if ((sha256 === undefined) !== (bytes === undefined))
      return `${path} needs both sha256 and bytes, or none`;
  const named = [
    text?.tokenizer,
    picture?.labels?.file,
    ...[text, picture].flatMap((part) => part?.variants.map(({ file }) => file) ?? []),
  ];
  for (const file of named)
    if (file !== undefined && !Object.hasOwn(files, file)) return `file "${file}" is not listed`;
  if (picture?.labels && !names.has(picture.labels.text_model))
    return `there is no text model "${picture.labels.text_model}"`;
  if (picture?.std.includes(0)) return 'a standard deviation is zero';
  if (text?.variants.some(({ run_tokens }) => run_tokens === undefined || run_tokens < text.limit))
    return 'run_tokens is at least the limit';
  for (const { row_counts, query_rows, ingest_rows } of [text, picture].flatMap(
    (part) => part?.variants ?? [],
  ))
    if (row_counts && row_counts.at(-1)! < Math.max(query_rows, ingest_rows))
      return 'the last of row_counts is at least query_rows and ingest_rows';
  if (text?.variants.some(({ widths }) => widths && widths.at(-1)! < text.limit))
    return 'the last width is at least the limit';
  if (model.family === 'text_semantic' && !lists.text_semantic) return 'lists.text_semantic is missing';
  if (model.family === 'visual' && !lists.visual_picture) return 'lists.visual_picture is missing';
  if (model.family === 'visual' && (text || picture?.labels) && !lists.visual_words)
    return 'lists.visual_words is missing';
  return undefined;
}
