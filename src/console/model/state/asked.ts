import type { Family } from '../../../client/index.ts';
import { K_DEFAULT } from '../../../domain/search.ts';

/** A picture that is searched with. */
export interface QueryPicture {
  readonly blob: Blob;
  readonly name: string;
  /** A blob address for showing it. */
  readonly address: string;
  /** SHA-256 in hex; undefined where the browser computes none (no HTTPS). */
  readonly digest?: string;
}

/** What is searched for. */
export interface Asked {
  readonly query: string;
  readonly picture?: QueryPicture;
  /** None: all that apply. */
  readonly families: readonly Family[];
  readonly k: number;
  /** What this search is like, as `placeNameOf` names it: it is left out of the answer. */
  readonly like?: string;
}

export const EMPTY_FORM: Asked = { query: '', families: [], k: K_DEFAULT };

/** What is found, as a person tells it apart. */
export const KINDS = { text: 'Text', picture: 'Pictures', film: 'Films', sound: 'Sound' } as const;
export type Kind = keyof typeof KINDS;

/** Which hits of an answer are shown. */
export interface Filter {
  readonly kind?: Kind;
  /** Id of an item. */
  readonly item?: string;
}
