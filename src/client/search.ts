import type { Filter } from '@farthing/protocol/labels/filter';
import type { Like } from '@farthing/protocol/labels/like';
import type { Order } from '@farthing/protocol/labels/order';
import type { Family } from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';

/** A query, or a query with overrides. */
export type AskedQuestion =
  | string
  | (Pick<SearchOptions, 'families' | 'k' | 'filter'> &
      ({ readonly query: string; readonly like?: never } | { readonly like: Like; readonly query?: never }));

export interface SearchOptions {
  readonly query?: string;
  /** Several questions, instead of `query`: `answers` has the answer to each. */
  readonly queries?: readonly AskedQuestion[];
  /** With `queries`: one list of hits for all, such as several wordings of one question. */
  readonly fused?: boolean;
  /** The picture's file, or its base64 text. */
  readonly image?: Blob | Uint8Array | string;
  /** Instead of `query`: find what is like this item of the index (its id), or like a place of it. */
  readonly like?: Like;
  readonly families?: readonly Family[];
  readonly k?: number;
  /** Restricts the items that may be found. */
  readonly filter?: Filter;
  /** The order of the hits: `{ by: 'created_at' }` is newest first, and with `decay` what is older counts less. */
  readonly order?: Order;
  /** Hits show their whole passage as `text`, with so many passages on each side. */
  readonly passages?: number;
  /** Characters of all `text` of an answer: the best hits first; `truncated` says whether something had no room. */
  readonly maxChars?: number;
  /** Prove that each list has its best rows, in large indexes too. */
  readonly exact?: boolean;
  /** Leave out hits of less confidence, 0..1. Default 0: none. */
  readonly minConfidence?: number;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Words alone, or all that a search takes. */
export type SearchQuery = string | SearchOptions;

/** The request's body. @throws search_empty */
export async function searchBody(query: SearchQuery): Promise<string> {
  const { image, idempotencyKey, signal, ...options }: SearchOptions =
    typeof query === 'string' ? { query } : query;
  const { query: words, queries, like } = options;
  if (words === undefined && image === undefined && queries === undefined && like === undefined)
    throw new FarthingError('search_empty', 'Give a query, an image, or both, or like, or queries.');
  const image_b64 = image && (await base64(image));
  return JSON.stringify({ ...Object.fromEntries(Object.entries(options).map(asField)), image_b64 });
}

/** `maxChars` is `max_chars` on the wire. */
function asField([option, value]: [string, unknown]): [string, unknown] {
  return [option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value];
}

/** How a workspace's texts are searched for lines. */
export interface GrepOptions {
  readonly ignoreCase?: boolean;
  /** Restricts the items whose lines are found. */
  readonly filter?: Filter;
  readonly maxLines?: number;
  /** Lines of the passage to show before and behind each. */
  readonly context?: number;
  /** The `next` of the answer before. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

/** The request's body. */
export function grepBody(pattern: string, { signal: _, ...options }: GrepOptions): string {
  return JSON.stringify({ pattern, ...Object.fromEntries(Object.entries(options).map(asField)) });
}

const PIECE = 0x8000;

async function base64(image: Blob | Uint8Array | string): Promise<string> {
  if (typeof image === 'string') return image;
  const bytes = image instanceof Blob ? new Uint8Array(await image.arrayBuffer()) : image;
  let binary = '';
  for (let start = 0; start < bytes.length; start += PIECE)
    binary += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  return btoa(binary);
}
