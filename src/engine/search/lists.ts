import { LIST_NAMES, LISTS, type ListName, type ListTraits, QUERY_INPUTS } from '@farthing/protocol/family';
import type { ServedSpace } from '../encode/encoder.ts';
import type { QueryEncoder } from '../encode/index-models.ts';
import type { ListSettings } from '../encode/models/manifest.ts';

/** A ranked list that the models in use can serve. Its weight and curves come from the models' manifest. */
export interface ServedList extends ListSettings {
  readonly name: ListName;
  readonly traits: ListTraits;
  /** The vector space that serves it; absent for lists of the content itself. */
  readonly space?: string;
  /** ISO 639-3 codes that the model knows; absent: every language. */
  readonly languages?: readonly string[];
}

export type ServedLists = ReadonlyMap<ListName, ServedList>;

/** The lists that an encoder's spaces, and the content itself, can serve, in the order of the table. */
export function servedLists({ spaces, fusion }: Pick<QueryEncoder, 'spaces' | 'fusion'>): ServedLists {
  const served = new Map<ListName, ServedList>();
  for (const name of LIST_NAMES) {
    const list = servedList(name, spaces, fusion);
    if (list) served.set(name, list);
  }
  return served;
}

function servedList(
  name: ListName,
  spaces: readonly ServedSpace[],
  fusion: QueryEncoder['fusion'],
): ServedList | undefined {
  const traits = LISTS[name];
  if (traits.scans !== 'vectors')
    return { name, traits, ...fusion[name as keyof typeof fusion & typeof name] };
  const input = QUERY_INPUTS[traits.asksWith];
  const space = spaces.find(({ name, asksWith }) => asksWith[input] && traits.spaces.includes(name));
  const settings = space?.lists[name as keyof typeof space.lists];
  return space && settings && { name, traits, ...settings, space: space.name, ...space.asksWith[input] };
}

/** Why the models in use do not serve a list. */
export function reasonUnserved(name: ListName, { missing }: Pick<QueryEncoder, 'missing'>): string {
  const traits = LISTS[name];
  const spaces: readonly string[] = traits.scans === 'vectors' ? traits.spaces : [];
  const input = QUERY_INPUTS[traits.asksWith];
  const lack = missing.find(({ space, asksWith = input }) => asksWith === input && spaces.includes(space));
  return lack?.reason ?? 'its model is not installed';
}
