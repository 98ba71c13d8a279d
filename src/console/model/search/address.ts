import { FAMILIES } from '@farthing/protocol/family';
import { K_DEFAULT, K_MAX, K_MIN } from '@farthing/protocol/search';
import { type Asked, type Filter, type Only, ORDERS, type OrderName } from '../state/asked.ts';
import { isKind } from './results.ts';

/**
 * A search in the page's address. It follows the `#`, which no browser sends: a server, a proxy and their logs never see
 * what is searched for.
 */
export interface SearchAddress extends Omit<Asked, 'picture'> {
  /** SHA-256 of the picture. */
  readonly picture?: string;
  readonly filter: Filter;
}

/** Names of what only some files are found by. */
const ONLY = { name: 'name', kind: 'type', from: 'from', to: 'to', field: 'meta' } as const;

/** Undefined for an address without a search. */
export function readAddress(hash: string): SearchAddress | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const query = values.get('q') ?? '';
  const picture = /^[0-9a-f]{64}$/.exec(values.get('picture') ?? '')?.[0];
  if (query === '' && picture === undefined) return undefined;
  const named = (values.get('in') ?? '').split(',');
  const k = Number(values.get('k') ?? K_DEFAULT);
  const kind = values.get('kind') ?? undefined;
  return {
    query,
    picture,
    families: FAMILIES.filter((family) => named.includes(family)),
    k: Number.isInteger(k) && k >= K_MIN && k <= K_MAX ? k : K_DEFAULT,
    like: values.get('like') ?? undefined,
    ...onlyOf(values),
    ...orderOf(values),
    filter: { kind: isKind(kind) ? kind : undefined, item: values.get('file') ?? undefined },
  };
}

function onlyOf(values: URLSearchParams): { only?: Only } {
  const only = Object.entries(ONLY)
    .map(([member, name]) => [member, values.get(name)] as const)
    .filter(([member, value]) => value && (member !== 'kind' || isKind(value)));
  return only.length === 0 ? {} : { only: Object.fromEntries(only) };
}

function orderOf(values: URLSearchParams): { order?: OrderName } {
  const order = values.get('order') ?? '';
  return Object.hasOwn(ORDERS, order) ? { order: order as OrderName } : {};
}

export function writeAddress({
  query,
  picture,
  families,
  k,
  like,
  only,
  order,
  filter,
}: SearchAddress): string {
  const values = new URLSearchParams();
  if (query !== '') values.set('q', query);
  if (picture !== undefined) values.set('picture', picture);
  if (families.length > 0) values.set('in', families.join(','));
  if (k !== K_DEFAULT) values.set('k', String(k));
  if (like !== undefined) values.set('like', like);
  for (const [member, name] of Object.entries(ONLY)) {
    const value = only?.[member as keyof Only];
    if (value) values.set(name, value);
  }
  if (order !== undefined) values.set('order', order);
  if (filter.kind) values.set('kind', filter.kind);
  if (filter.item) values.set('file', filter.item);
  return `#${values}`;
}
