import type { Family } from '@farthing/client';
import { K_DEFAULT } from '@farthing/protocol/search';

/** A picture that is searched with. */
export interface QueryPicture {
  readonly blob: Blob;
  readonly name: string;
  /** A blob address for showing it. */
  readonly address: string;
  /** SHA-256 in hex; undefined where the browser computes none (no HTTPS). */
  readonly digest?: string;
}

/** Restricts the files that a search may find, as typed. */
export interface Only {
  /** A part of the name, or a pattern. */
  readonly name?: string;
  readonly kind?: Kind;
  /** Days, `2026-11-27`: the first and the last. */
  readonly from?: string;
  readonly to?: string;
  /** Metadata: `year=2024`, or a field's name. */
  readonly field?: string;
}

export interface Asked {
  readonly query: string;
  readonly picture?: QueryPicture;
  /** None: all that apply. */
  readonly families: readonly Family[];
  readonly k: number;
  /** Absent: all files. */
  readonly only?: Only | undefined;
  /** The newest first, or what is a month older counting half. Absent: the likelier first. */
  readonly order?: OrderName | undefined;
  /** The hit that similar ones are searched for, named by `placeNameOf`: it is left out of the answer. */
  readonly like?: string;
}

export const EMPTY_FORM: Asked = { query: '', families: [], k: K_DEFAULT };

/** Orders of hits, in a person's words. */
export const ORDERS = { newest: 'Newest first', newer: 'Newer counts more' } as const;
export type OrderName = keyof typeof ORDERS;

/** Kinds of hits, in a person's words. */
export const KINDS = { text: 'Text', picture: 'Pictures', film: 'Films', sound: 'Sound' } as const;
export type Kind = keyof typeof KINDS;

/** Restricts the displayed hits of an answer. */
export interface Filter {
  readonly kind?: Kind;
  /** Id of an item. */
  readonly item?: string;
}
