import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { FAMILIES, LIST_NAMES, LISTS, type ListTraits } from '@farthing/protocol/family';
import { LIKELY_SHARE, LIKENESS_FLOOR, type SearchInput } from '@farthing/protocol/search';
import type { ServedSpace } from '../encode/encoder.ts';
import type { QueryEncoder } from '../encode/index-models.ts';
import { reasonUnserved, type ServedList, servedLists } from './lists.ts';

type PlanEncoder = Pick<QueryEncoder, 'spaces' | 'missing' | 'fusion'>;
type Fusion = QueryEncoder['fusion'];

/** The lists that answer a search, and how they count. */
export interface SearchPlan {
  readonly lists: readonly ServedList[];
  readonly native: InstanceType<typeof native.SearchPlan>;
}

interface KeptPlan extends SearchPlan {
  readonly fusion: Fusion;
}

/** Plans by the spaces of the models in use, and by the kind of query. */
const kept = new WeakMap<readonly ServedSpace[], Map<number, KeptPlan>>();

/** The plan of a search, made once for each combination of models, families and inputs. @throws as `planLists` */
export function planSearch(input: SearchInput, encoder: PlanEncoder): SearchPlan {
  const { spaces, fusion } = encoder;
  const { families = FAMILIES, query, image, like } = input;
  let key = Number(query !== undefined) + 2 * Number(image !== undefined) + 4 * Number(like !== undefined);
  for (const family of FAMILIES) key = 2 * key + Number(families.includes(family));
  const plans = kept.get(spaces) ?? new Map<number, KeptPlan>();
  const known = plans.get(key);
  if (known?.fusion === fusion) return known;
  const lists = planLists(input, encoder);
  const plan = { ...planOf(lists, fusion), fusion };
  kept.set(spaces, plans.set(key, plan));
  return plan;
}

/** The plan of some lists. */
export function planOf(lists: readonly ServedList[], fusion: Fusion): SearchPlan {
  return { lists, native: nativePlan(lists, fusion) };
}

/** Lists as the native side has them. */
export function nativePlan(
  lists: readonly ServedList[],
  fusion: Pick<Fusion, 'unknown_language_share' | 'answered_min'>,
): InstanceType<typeof native.SearchPlan> {
  const planned = lists.map(({ traits, space: _, ...list }) => ({
    ...list,
    family: traits.family,
    kind: traits.kind,
    scans: traits.scans,
    near_identical: traits.nearIdentical,
    described: traits.asksWith === 'query',
  }));
  const { unknown_language_share, answered_min } = fusion;
  const likely = { answered_min, share_of_best: LIKELY_SHARE, likeness_min: LIKENESS_FLOOR };
  return new native.SearchPlan(JSON.stringify({ lists: planned, unknown_language_share, likely }));
}

/** Whether a search asks a list something. What is like an item is found by what is stored of it: no list of descriptions has that. */
export function asks(input: SearchInput, { asksWith, kind, scans }: ListTraits): boolean {
  if (!input.like) return input[asksWith] !== undefined;
  return kind === 'passages' || (asksWith === 'image' && scans === 'vectors');
}

/**
 * The lists that answer a search: those of the requested families that apply to the query and whose models are installed.
 * @throws family_unavailable when only a model is missing, family_not_applicable when nothing applies
 */
export function planLists(input: SearchInput, encoder: PlanEncoder): ServedList[] {
  const families = input.families ?? FAMILIES;
  const applicable = LIST_NAMES.filter(
    (name) => families.includes(LISTS[name].family) && asks(input, LISTS[name]),
  );
  const [first] = applicable;
  if (first === undefined) {
    const sent = input.like ? 'an item' : input.query === undefined ? 'a picture' : 'words';
    throw new FarthingError(
      'family_not_applicable',
      `families: name one that can be searched with ${sent}, or leave it out.`,
      { facts: { field: 'families' } },
    );
  }
  const served = servedLists(encoder);
  const ready = applicable.flatMap((name) => served.get(name) ?? []);
  if (ready.length === 0) {
    const { family } = LISTS[first];
    throw new FarthingError(
      'family_unavailable',
      `families: ${family} cannot be searched here: ${reasonUnserved(first, encoder)}.`,
      { facts: { field: 'families', family } },
    );
  }
  return ready;
}
