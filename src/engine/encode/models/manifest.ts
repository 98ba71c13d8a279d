import { CONTENT_LISTS, type InputKind, type SpaceName, VECTOR_LISTS } from '@farthing/protocol/family';
import { type Static, type TOptional, type TSchema, Type } from '@sinclair/typebox';

/** A role of models that make vectors: the part that fills a space, and, where labels stand for words, the space of those. */
export interface EncodingRole {
  readonly part: InputKind;
  readonly space: SpaceName;
  readonly bridge?: SpaceName;
}

/** Roles that make vectors. A joint model has a text part beside its own, which searches the same space. */
export const ENCODING_ROLES = {
  text_semantic: { part: 'text', space: 'text_semantic' },
  visual: { part: 'picture', space: 'visual_picture', bridge: 'visual_words' },
} as const satisfies Readonly<Record<string, EncodingRole>>;
export type EncodingRoleName = keyof typeof ENCODING_ROLES;

/** Parts of models that make vectors. */
export const ENCODING_PARTS: readonly InputKind[] = [
  ...new Set(Object.values(ENCODING_ROLES).map(({ part }) => part)),
];

/** The roles of models, each with the part that serves it. */
export const MODEL_ROLES = {
  ...ENCODING_ROLES,
  voice: { part: 'voice' },
  speech: { part: 'speech' },
} as const;
export type ModelRole = keyof typeof MODEL_ROLES;
export const ROLE_NAMES = Object.keys(MODEL_ROLES) as ModelRole[];

const closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

/** One property of the same schema for each name. */
function each<Name extends string, T extends TSchema>(names: readonly Name[], schema: T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, T>;
}
const optionalEach = <Name extends string, T extends TSchema>(names: readonly Name[], schema: T) =>
  each(names, Type.Optional(schema) as TOptional<T>);

const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });
/** A path below the models folder that cannot lead out of it. */
const RelativePath = Type.String({ pattern: '^(?!.*(^|/)\\.\\.(/|$))[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$' });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Three = Type.Tuple([Type.Number(), Type.Number(), Type.Number()]);

const ModelFile = closed({
  path: RelativePath,
  /** Both absent: learned at the first pull, then stored in the lock file. */
  sha256: Type.Optional(Sha256),
  bytes: Type.Optional(Count(2 ** 40)),
  /** Path in the hub's repository; absent: the file cannot be pulled. */
  remote: Type.Optional(RelativePath),
});

/** Features of a passage's relevance: `native/core/src/search/curve.rs`. */
export const CURVE_FEATURES = [
  'lead',
  'held',
  'missing',
  'written',
  'meaning',
  'small',
  'small_meaning',
  'cosine',
  'cosine_lead',
] as const;

/** Coefficients of log-odds. `lead` is not negative, so likelihoods follow the ranking. */
const Curve = closed({
  bias: Type.Number(),
  ...optionalEach(CURVE_FEATURES, Type.Number()),
  lead: Type.Number({ minimum: 0 }),
});

/** How a list counts. A list without fitted curves or calibration gives low confidence. */
const List = closed({
  /** Passages: weight in the ranking of the best BM25 score, or of one standard deviation of cosine. */
  weight: Type.Number({ minimum: 0, maximum: 100 }),
  /** Passages by meaning: cosines of unrelated texts. Absent: estimated from the index's own scores for the query. */
  scale: Type.Optional(closed({ mean: Type.Number(), deviation: Type.Number({ exclusiveMinimum: 0 }) })),
  /** Passages by meaning: the share that words beside it count which stand in texts of another language by chance. */
  other_language_words: Type.Optional(Share),
  /** Passages: log-odds from the list alone, from meaning together with words, and from both where a sentence is asked. */
  curve: Type.Optional(Curve),
  with_words: Type.Optional(Curve),
  sentences: Type.Optional(Curve),
  /** Pictures: log-odds are a · score + b + lead · (its distance to the best of the others). */
  calibration: Type.Optional(
    closed({
      a: Type.Number({ minimum: 0 }),
      b: Type.Number(),
      lead: Type.Optional(Type.Number({ minimum: 0 })),
    }),
  ),
});
export type ListSettings = Static<typeof List>;

export const PROVIDERS = ['cuda', 'webgpu', 'cpu'] as const;
const Provider = Type.Union(PROVIDERS.map((name) => Type.Literal(name)));
export type Provider = (typeof PROVIDERS)[number];
/** Runtime of the weights: a provider of ONNX Runtime, or `native`, this server's own encoder, which takes weights for `cpu`. */
export type Engine = Provider | 'native';

/** Weights for some providers, and how they are run. */
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
  /** Numbers of rows to which a run is padded, ascending; absent: any number. */
  row_counts: Type.Optional(Type.Array(Count(1024), { minItems: 1, maxItems: 64 })),
  provider_options: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  ),
  /** Entries of ONNX Runtime's session configuration, by their full names. */
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

/** Weights of another export than the part describes state the differences here. */
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
  /** Maps this model's queries into the space of one that knows fewer languages: `engine/encode/text/translation.ts`. */
  translation: Type.Optional(
    closed({
      into: Name,
      file: Name,
      /** Cosine of the two models' vectors from which the other model's own serves. */
      agreement_min: Share,
    }),
  ),
  /** ISO 639-3 codes. */
  languages: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]{3}$' }), { minItems: 1 })),
  variants: Type.Array(TextVariant, { minItems: 1 }),
});

/** Makes pictures searchable by words without a joint model: ConSE (Norouzi et al. 2013, arXiv:1312.5650). */
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
  /** For values 0..1. */
  mean: Three,
  std: Three,
  input: Type.String(),
  output: Type.String(),
  normalise: Type.Boolean(),
  dimensions: Count(65_536),
  labels: Type.Optional(Labels),
  variants: Type.Array(Variant, { minItems: 1 }),
});

/** A model of voice activity: takes windows of sound, each with the end of the previous window, and a state. */
const Voice = closed({
  file: Name,
  sample_rate: Count(192_000),
  /** Samples of a window, and of the previous window before it. */
  window: Count(65_536),
  context: Type.Integer({ minimum: 0, maximum: 65_536 }),
  state: Type.Array(Count(65_536), { minItems: 1, maxItems: 4 }),
  inputs: closed({ sound: Type.String(), state: Type.String(), rate: Type.Optional(Type.String()) }),
  outputs: closed({ probability: Type.String(), state: Type.String() }),
  /** Probability at which a stretch begins, and below which it ends; least seconds of a stretch, and of a silence that ends it. */
  begins_at: Share,
  ends_below: Share,
  speech_seconds_min: Type.Number({ minimum: 0 }),
  silence_seconds_min: Type.Number({ minimum: 0 }),
});

const Token = Type.Integer({ minimum: 0 });

/** A model of Whisper's shape, with the inputs and outputs that `models/whisper-base/build.py` gives it. */
const Speech = closed({
  encoder: Name,
  decoder: Name,
  tokenizer: Name,
  sample_rate: Type.Literal(16_000),
  fft: Type.Integer({ minimum: 2, maximum: 65_536, multipleOf: 2 }),
  hop: Count(65_536),
  mel_bins: Count(1_024),
  /** Length of the encoder's input. */
  seconds: Count(120),
  /** The token that begins, the first and last of the languages', and the one that asks for a transcript. */
  start: Token,
  languages: Type.Tuple([Token, Token]),
  transcribe: Token,
  end: Token,
  /** The token that asks for no times; those of the times follow it. */
  no_times: Token,
  /** Tokens that are never chosen, and that are not chosen first. */
  suppressed: Type.Array(Token, { maxItems: 1_000 }),
  suppressed_first: Type.Array(Token, { maxItems: 1_000 }),
  tokens_max: Count(4_096),
});

const Model = closed({
  name: Name,
  /** The role that it can serve. */
  family: Type.Union(ROLE_NAMES.map((role) => Type.Literal(role))),
  revision: Type.String({ minLength: 1 }),
  licence: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
  /** A caveat for operators. */
  note: Type.Optional(Type.String({ maxLength: 1_000 })),
  hub: Type.Optional(
    closed({
      repository: Type.String({ pattern: '^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$' }),
      revision: Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' }),
    }),
  ),
  files: Type.Record(Name, ModelFile),
  text: Type.Optional(Text),
  picture: Type.Optional(Picture),
  voice: Type.Optional(Voice),
  speech: Type.Optional(Speech),
  lists: closed(optionalEach(VECTOR_LISTS, List)),
});

/** The model that serves each role, by name. */
export const RolesSchema = closed(optionalEach(ROLE_NAMES, Name));

export const ManifestSchema = closed({
  version: Type.Literal(1),
  use: RolesSchema,
  /** The text model of an index that begins in a language which the one in use does not know. Absent: the one in use. */
  other_languages: Type.Optional(Name),
  /** Words of a passage where no text model is installed. */
  passage_words: Count(10_000),
  fusion: closed({
    depth: Count(10_000),
    unknown_language_share: Share,
    /** An answer whose first hit is less likely is reported as none. */
    answered_min: Share,
    ...each(CONTENT_LISTS, List),
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

/** The parts of a model that make vectors. */
export function encodingPartsOf(model: ManifestModel) {
  return ENCODING_PARTS.flatMap((part) => model[part] ?? []);
}
