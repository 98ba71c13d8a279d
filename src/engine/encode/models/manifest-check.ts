import { LISTS, QUERY_INPUTS, VECTOR_LISTS, type VectorListName } from '@farthing/protocol/family';
import {
  ENCODING_ROLES,
  type EncodingRole,
  encodingPartsOf,
  type Manifest,
  type ManifestModel,
  type ManifestVariant,
  MODEL_ROLES,
  ROLE_NAMES,
} from './manifest.ts';

/** The first inconsistency of a well-formed manifest: a dangling name, or parts that do not fit together. */
export function manifestProblem({ models, use, other_languages }: Manifest): string | undefined {
  const names = new Set(models.map((model) => model.name));
  if (names.size < models.length) return 'two models have the same name';
  for (const role of ROLE_NAMES) {
    const model = models.find(({ name }) => name === use[role]);
    if (use[role] !== undefined && model?.family !== role)
      return `use.${role}: there is no ${role} model "${use[role]}"`;
  }
  if (other_languages && models.find(({ name }) => name === other_languages)?.family !== 'text_semantic')
    return `other_languages: there is no text_semantic model "${other_languages}"`;
  for (const model of models) {
    const problem =
      partsProblem(model) ?? filesProblem(model) ?? valuesProblem(model, names) ?? listsProblem(model);
    if (problem) return `model "${model.name}": ${problem}`;
  }
  return undefined;
}

/** Files that a model needs besides its weights for some provider, by their names in `files`. */
export function filesBesidesWeights({ text, picture, voice, speech }: ManifestModel): string[] {
  const files = [
    text?.tokenizer,
    text?.translation?.file,
    picture?.labels?.file,
    voice?.file,
    speech?.encoder,
    speech?.decoder,
    speech?.tokenizer,
  ];
  return files.filter((file) => file !== undefined);
}

const PARTS = [...new Set(ROLE_NAMES.map((role) => MODEL_ROLES[role].part))];

/** The encoding role of a model; undefined for models that make no vectors. */
function encodingRoleOf({ family }: ManifestModel): EncodingRole | undefined {
  return (ENCODING_ROLES as Partial<Record<string, EncodingRole>>)[family];
}

function partsProblem(model: ManifestModel): string | undefined {
  const { family, text, picture } = model;
  const { part } = MODEL_ROLES[family];
  if (!model[part]) return `a ${family} model has a ${part} part`;
  for (const other of PARTS) {
    const isJoint = other === 'text' && encodingRoleOf(model) !== undefined;
    if (other !== part && model[other] && !isJoint) return `a ${family} model has no ${other} part`;
  }
  if (text && picture && text.dimensions !== picture.dimensions)
    return 'both parts of a joint model have the same dimensions';
  if (text && picture?.labels) return 'a joint model needs no labels';
  return undefined;
}

function filesProblem(model: ManifestModel): string | undefined {
  const { files } = model;
  for (const { path, sha256, bytes } of Object.values(files))
    if ((sha256 === undefined) !== (bytes === undefined))
      return `${path} needs both sha256 and bytes, or none`;
  const weights = encodingPartsOf(model).flatMap(({ variants }) => variants.map(({ file }) => file));
  const unlisted = [...filesBesidesWeights(model), ...weights].find((file) => !Object.hasOwn(files, file));
  return unlisted === undefined ? undefined : `file "${unlisted}" is not listed`;
}

function valuesProblem(model: ManifestModel, names: ReadonlySet<string>): string | undefined {
  const { text, picture } = model;
  if (picture?.labels && !names.has(picture.labels.text_model))
    return `there is no text model "${picture.labels.text_model}"`;
  if (text?.translation && !names.has(text.translation.into))
    return `there is no text model "${text.translation.into}"`;
  if (picture?.std.includes(0)) return 'a standard deviation is zero';
  if (text?.variants.some(({ run_tokens }) => run_tokens === undefined || run_tokens < text.limit))
    return 'run_tokens is at least the limit';
  for (const { row_counts, query_rows, ingest_rows } of encodingPartsOf(model).flatMap(
    (part): readonly ManifestVariant[] => part.variants,
  ))
    if (row_counts && row_counts.at(-1)! < Math.max(query_rows, ingest_rows))
      return 'the last of row_counts is at least query_rows and ingest_rows';
  if (text?.variants.some(({ widths }) => widths && widths.at(-1)! < text.limit))
    return 'the last width is at least the limit';
  return undefined;
}

/** Each list that a model can serve needs its weight and calibration. */
function listsProblem(model: ManifestModel): string | undefined {
  const missing = VECTOR_LISTS.find((list) => canServe(model, list) && !model.lists[list]);
  return missing && `lists.${missing} is missing`;
}

function canServe(model: ManifestModel, list: VectorListName): boolean {
  const role = encodingRoleOf(model);
  const { spaces, asksWith } = LISTS[list];
  const input = QUERY_INPUTS[asksWith];
  if (!role) return false;
  const isAskedBy = input === role.part || (input === 'text' && model.text !== undefined);
  if (isAskedBy && spaces.includes(role.space)) return true;
  return (
    input === 'text' && model.picture?.labels !== undefined && spaces.some((space) => space === role.bridge)
  );
}
