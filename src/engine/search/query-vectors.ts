import type { PictureContent, PictureSpec } from '@farthing/protocol/document';
import { type InputKind, QUERY_INPUTS, type QueryField } from '@farthing/protocol/family';
import type { SearchInput } from '@farthing/protocol/search';
import type { QueryOptions } from '../encode/encoder.ts';
import type { QueryEncoder } from '../encode/index-models.ts';
import type { ListSpace, ListVector } from '../shard/snapshot.ts';
import type { ServedList } from './lists.ts';

/** Decodes the picture of a query, away from this process; the readers do. */
export interface QueryPictures {
  /** @param options with the model's form of it; absent: the current model's @throws image_unreadable, overloaded */
  decodePicture(bytes: Uint8Array, options?: QueryPictureOptions): Promise<PictureContent>;
  /** Looks at the header alone. @throws image_unreadable, overloaded */
  checkPicture(bytes: Uint8Array, options: QueryPictureOptions): Promise<void>;
}

interface QueryPictureOptions {
  readonly tenant?: string;
  readonly spec?: PictureSpec;
  readonly signal?: AbortSignal;
}

/** The encoded query. */
export interface QueryVectors {
  readonly picture?: PictureContent;
  /** By what was encoded and the name of the space. */
  readonly vectors: Readonly<Partial<Record<InputKind, Readonly<Record<string, Float32Array>>>>>;
}

/**
 * Encodes what the lists need of a query; its picture is decoded for any list.
 * @throws image_unreadable, overloaded
 */
export async function encodeQuery(
  { query, image }: SearchInput,
  lists: readonly ServedList[],
  { encoder, extractor }: { readonly encoder: QueryEncoder; readonly extractor: QueryPictures },
  options: QueryOptions,
): Promise<QueryVectors> {
  const needs = (field: QueryField) =>
    lists.some(({ traits }) => traits.scans === 'vectors' && traits.asksWith === field);
  const { tenant, signal } = options;
  const whose = { tenant, signal };
  const encodePicture = async (file: Uint8Array) => {
    const picture = await extractor.decodePicture(file, whose);
    const vectors = needs('image')
      ? await encoder.encodeQuery(
          'picture',
          picture.pixels.rgb,
          options,
          async (spec) =>
            // Another model wants the same picture in another form.
            (await extractor.decodePicture(file, { ...whose, spec })).pixels.rgb,
        )
      : {};
    return { picture, vectors };
  };
  const [text, seen] = await Promise.all([
    query !== undefined && needs('query') ? encoder.encodeQuery('text', query, options) : {},
    image && encodePicture(image),
  ]);
  return { picture: seen?.picture, vectors: { text, picture: seen?.vectors } };
}

/** The lists of a plan that vectors answer. */
export function listSpaces(lists: readonly ServedList[]): ListSpace[] {
  return lists.flatMap(({ traits, space }, list) =>
    traits.scans === 'vectors' ? { list, space: space! } : [],
  );
}

/** The query's vector for each list that vectors answer. */
export function listVectors(lists: readonly ServedList[], { vectors }: QueryVectors): ListVector[] {
  return listSpaces(lists).map(({ list, space }) => {
    const vector = vectors[QUERY_INPUTS[lists[list]!.traits.asksWith]]![space]!;
    return { list, space, vector };
  });
}
